#!/bin/sh
# hindcast-load with light clients: their load, their profiles, steps, the page, and a late load test.
set -u
HC_LIMIT=600
. "$(dirname "$0")/lib.inc"

# agrees NAME: the verdict agrees with the exit status, also on a busy machine.
agrees() {
    python3 - "$work/$1.json" "$status" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1]))["verdict"]
assert verdict["ok"] == (int(sys.argv[2]) == 0), verdict
END
}

# Light clients beside full ones.
start mixed hindcast-load --spawn --clients 2 --light 10 --duration 3 --link ok --report "$work/mixed.html"
finish "$pid"
check "light and full clients play together" good mixed
check "all of them play to the end" report mixed \
    'c["accepted"] == c["left"] == s["joins"] == 12 == r["clients"] and r["load"]["light_clients"] == 10'
check "only full clients decode snapshots, and check them" report mixed \
    '0 < c["snapshots_decoded"] < c["snapshots"] / 3 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0'
check "full clients count the other players that they see, of all eleven" report mixed \
    '0 < c["others_in_view"] <= 11'
check "the inputs of light clients take effect" report mixed \
    'inputs["received"] > 0.8 * c["inputs_sampled"] > 0 and inputs["lost"] == 0'
check "each session's snapshots are counted" report mixed \
    'r["load"]["snapshots"]["sessions"] == 12 and r["load"]["snapshots"]["lost_on_link"] > 0'

start light hindcast-load --spawn --clients 0 --light 9 --sources 2 --duration 2 --processes 2 --snapshot-rate 30
finish "$pid"
check "light clients share source addresses" good light
check "each receives the snapshots of the rate" report light \
    'c["left"] == 9 and 25 < r["datagrams_down_per_client_s"] < 35'
check "figures that light clients cannot know are null, and the others are there" report light \
    '(all(c[k] is None for k in ("rollbacks", "snapshots_matched", "hash_checks", "hash_mismatches",
                                   "others_in_view"))
      and c["rollback_depth_ticks"]["count"] is None and c["stalls"] is not None and c["snapshots"] > 0)'

# A server that is not on 127.0.0.0/8.
start six hindcastd --dev --bind ::1 --port 0
six=$pid
listens_v6() {
    port=$(sed -n 's/^listening on \[::1\]:\([0-9]*\)$/\1/p' "$work/six.out")
    [ -n "$port" ] || ! kill -0 "$six"
}
await listens_v6
if [ -n "$port" ]; then
    start own hindcast-load --connect "[::1]:$port" --clients 0 --light 6 --duration 2 --processes 2
    finish "$pid"
    check "elsewhere each light client has a socket of its own" report own \
        'c["accepted"] == c["left"] == 6 and c["snapshots"] > 100'
    kill -TERM "$six"
else
    echo "SKIPPED a server on ::1: this machine has no IPv6"
fi
finish "$six"

# Profiles.
start churn hindcast-load --spawn --clients 0 --light 8 --duration 4 --churn 4 --storm 4 --activity 50 \
    --latency 5 --latency-to 40
finish "$pid"
check "a profile of joins, leaves and idle users runs" good churn
check "clients leave and join again, some each second and some at once" report churn \
    's["joins"] >= 8 + 4 + 8 and s["joins"] >= c["accepted"] >= 20 and r["load"]["join_ms"]["count"] == c["accepted"]'

# Steps.
start steps hindcast-load --spawn --clients 1 --step 3 --until 7 --duration 4 --link good --report "$work/steps.html"
finish "$pid"
check "each step is a run with more light clients, up to the first that is not held" python3 - "$work/steps.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows, verdict = r["steps"], r["steps_verdict"]
assert [row["clients"] for row in rows] == [4, 7][:len(rows)], rows
assert all(row["held"] for row in rows[:-1]) and all(row["held"] == (not row["reasons"]) for row in rows), rows
held = [row["clients"] for row in rows if row["held"]]
assert verdict["held_clients"] == (held[-1] if held else 0), verdict
assert r["clients"] == (held[-1] if held else 4) and (len(rows) == 2 or not rows[0]["held"])
END

# Steps with a file of tokens, each of which opens one session: 2 + 4 + 6 of them.
"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
serve_with stepped --port 0 --key-file "$work/keys" --max-clients 16 --seed 1
stepped=$pid
"$bin/hindcastd" token --key-file "$work/keys" --life 3600 --count 12 >"$work/tokens"
start enough hindcast-load --connect "127.0.0.1:$port" --token "$work/tokens" --clients 0 --step 2 --until 6 \
    --duration 2
finish "$pid"
check "each step uses tokens of its own" python3 - "$work/enough.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows = r["steps"]
assert [row["clients"] for row in rows] == [2, 4, 6][:len(rows)] and r["client"]["denied"] == 0, rows
assert not any(reason["key"] == "denied" for row in rows for reason in row["reasons"]), rows
END
"$bin/hindcastd" token --key-file "$work/keys" --life 3600 --count 2 >"$work/tokens"
start short hindcast-load --connect "127.0.0.1:$port" --token "$work/tokens" --clients 0 --step 2 --until 6 \
    --duration 2
finish "$pid"
check "too few tokens for all steps are not OK" report short \
    "$status == 1 and not r['steps_verdict']['ok'] and len(r['steps']) == 1"
kill -TERM "$stepped"
finish "$stepped"

# The page.
check "the page has every plot, with all its series, and loads nothing" \
    python3 "$here/page.py" "$work/mixed.html" "$work/steps.html"
if command -v chromium >/dev/null; then
    check "a browser draws the page without an error" \
        python3 "$here/page.py" --browser chromium "$work/mixed.html" "$work/steps.html"
else
    echo "SKIPPED a browser draws the page: there is no chromium"
fi

serve waits --max-clients 64 --status-every 1

# A signal ends all steps, not only the present one.
start early hindcast-load --connect "127.0.0.1:$port" --clients 1 --step 1 --duration 60
early=$pid
check "the clients of the first step play" await grep -q "status clients=2 " "$work/waits.err"
kill -TERM "$early"
finish "$early"
check "a signal ends all steps" report early 'r["steps"] == [] and r["steps_verdict"]["held_clients"] == 0'

# Coordinated omission: a load test that stops for a while must not count one late datagram, but all.
start stopped hindcast-load --connect "127.0.0.1:$port" --clients 0 --light 20 --duration 6 --processes 1
stopped=$pid
check "its clients play" await grep -q "status .*clients=20" "$work/waits.err"
kill -STOP "$stopped"
sleep 2
kill -CONT "$stopped"
finish "$stopped"
check "each datagram that was due meanwhile counts as late" report stopped \
    '(r["load"]["lateness_ms"]["p90"] > 200 and r["load"]["datagrams_due"] > 5 * 20 * 60
      and any(reason["key"] == "load_late" for reason in r["verdict"]["reasons"]))'
check "the exit status agrees" agrees stopped

# A load test with a fifth of a core: it shares one with four busy loops, and needs more than that.
serve crowd --max-clients 400
crowd=$pid
# on_one_core PROGRAM ARGUMENTS...: runs the program on the first core that this test may use.
on_one_core() {
    exec python3 -c 'import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
loops=""
for _ in 1 2 3 4; do
    on_one_core sh -c 'while :; do :; done' &
    loops="$loops $!"
    running="$running $!"
done
on_one_core "$bin/hindcast-load" --connect "127.0.0.1:$port" --clients 4 --light 396 --duration 6 \
    --processes 1 --json "$work/fifth.json" --report "$work/fifth.html" >"$work/fifth.out" 2>"$work/fifth.err" &
fifth=$!
running="$running $fifth"
finish "$fifth"
fifth_status=$status
for loop in $loops; do
    kill "$loop"
    finish "$loop" 2>/dev/null
done
kill -TERM "$crowd"
finish "$crowd"
status=$fifth_status
check "the first line of a load test with a fifth of a core says not to trust it" grep -q \
    "^NOT OK: hindcast-load itself was late, do not trust this" "$work/fifth.out"
check "and it exits with 1" test "$status" = 1
check "its JSON and its page say the same" python3 - "$work/fifth" <<'END'
import html, json, re, sys
verdict = json.load(open(sys.argv[1] + ".json"))["verdict"]
page = html.unescape(re.sub("<[^>]*>", " ", open(sys.argv[1] + ".html").read()))
line = open(sys.argv[1] + ".out").readline().rstrip()
assert not verdict["ok"] and verdict["text"] == line and line in page, (line, verdict)
assert any(reason["key"] == "load_late" for reason in verdict["reasons"]), verdict
END
end
