#!/bin/sh
# The first line of a report and the exit status give the verdict; a running daemon reports on a signal.
set -u
HC_LIMIT=400
. "$(dirname "$0")/lib.inc"

# reasons NAME KEYS...: the verdict of NAME is NOT OK, for at least these reasons.
reasons() {
    python3 - "$work/$1.json" "$@" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1]))["verdict"]
keys = {reason["key"] for reason in verdict["reasons"]}
assert not verdict["ok"] and verdict["text"].startswith("NOT OK: ") and keys >= set(sys.argv[3:]), verdict
END
}

start whole hindcast-load --spawn --clients 8 --duration 3 --processes 2 --link ok
finish "$pid"
check "the first line of a report is the verdict, and the exit status agrees" good whole
check "its figures are the sums of both processes" report whole \
    'r["load"]["processes"] == 2 and c["accepted"] == c["left"] == 8 and s["joins"] == 8'
check "no line of the table is unknown" sh -c "! grep -qi unknown '$work/whole.out'"

# Two of three snapshots never come: the server sends 20 a second, and 60 are due.
serve seldom --snapshot-rate 20
seldom=$pid
for program in hindcast-load hindcast-bot; do
    start "$program" "$program" --connect "127.0.0.1:$port" --duration 3
    finish "$pid"
    check "$program whose snapshots lack exits with 1" test "$status" = 1
    check "the verdict of $program names them" reasons "$program" snapshots
    start "$program.told" "$program" --connect "127.0.0.1:$port" --duration 3 --snapshot-rate 20
    finish "$pid"
    check "$program --snapshot-rate 20 lacks none" good "$program.told"
done
kill -TERM "$seldom"
finish "$seldom"

# A report that cannot be written.
check "hindcast-load whose report is lost exits with 1" sh -c "'$bin/hindcast-load' --spawn --duration 1 \\
    >/dev/full 2>'$work/lost.err'; [ \$? = 1 ] && grep -q 'standard output cannot be written: No space left' '$work/lost.err'"
check "hindcastd whose report is lost exits with 1" sh -c "'$bin/hindcastd' --dev --bind 127.0.0.1 --port 0 --ticks 3 \\
    >/dev/full 2>'$work/lost.err'; [ \$? = 1 ] && grep -q 'standard output cannot be written: No space left' '$work/lost.err'"
check "a JSON file that cannot be written is named with the cause" sh -c "'$bin/hindcast-load' --spawn \\
    --json '$work/none/x' 2>&1 | grep -q -e \"--json '$work/none/x': cannot be written: No such file\""
check "descriptors that are closed at the start are not reused" sh -c "'$bin/hindcastd' --dev --bind 127.0.0.1 \\
    --port 0 --ticks 3 --json '$work/closed.json' 0<&- 1>&- 2>&-; python3 -m json.tool '$work/closed.json'"

# docs/REPORT.md explains each line of a report.
serve explained
explained=$pid
start explained_bots hindcast-bot --connect "127.0.0.1:$port" --count 2 --duration 1 --link bad
finish "$pid"
kill -TERM "$explained"
finish "$explained"
check "docs/REPORT.md explains every line" python3 - "$here/../../docs/REPORT.md" \
    "$work/whole.out" "$work/explained.out" "$work/explained_bots.out" <<'END'
import re, sys
page = {m.group(1) for m in re.finditer(r"^\| ([a-z ]+) \|", open(sys.argv[1]).read(), re.M)}
lines = {m.group(1) for f in sys.argv[2:] for m in re.finditer(r"^  ([a-z ]+?)  ", open(f).read(), re.M)}
assert len(lines) > 20 and lines <= page, lines - page
END

# The server is killed during a run.
serve dies --status-every 1
dies=$pid
start bereft hindcast-load --connect "127.0.0.1:$port" --clients 4 --duration 10 --processes 2
bereft=$pid
check "its clients play" await grep -q "status .*clients=4" "$work/dies.err"
kill -9 "$dies"
finish "$bereft"
check "a run whose server was killed exits with 1" test "$status" = 1
check "the verdict names it" reasons bereft cut_off
finish "$dies"

# The server stands still for 2 s.
serve frozen --status-every 1
frozen=$pid
start still hindcast-load --connect "127.0.0.1:$port" --clients 2 --light 2 --duration 8 --processes 1
still=$pid
check "its clients play" await grep -q "status .*clients=4" "$work/frozen.err"
kill -STOP "$frozen"
sleep 2
kill -CONT "$frozen"
finish "$still"
check "a server that stood still for 2 s shows in the age of the newest snapshot" python3 - "$work/still.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
age = r["snapshot_age_ms"]
assert age["p90"] > 200 and age["p99"] > 1000 and age["count"] > 4 * 60, age
assert not r["verdict"]["ok"], r["verdict"]
END
kill -TERM "$frozen"
finish "$frozen"

# The load test is stopped for a while.
serve waits --status-every 1
waits=$pid
start stopped hindcast-load --connect "127.0.0.1:$port" --clients 4 --duration 8 --processes 1
stopped=$pid
check "its clients play" await grep -q "status .*clients=4" "$work/waits.err"
kill -STOP "$stopped"
sleep 1.5
kill -CONT "$stopped"
finish "$stopped"
check "a load test that was late exits with 1" test "$status" = 1
check "the verdict says not to trust it" reasons stopped load_late

# The daemon reports on a signal, and goes on.
kill -USR1 "$waits"
check "SIGUSR1 prints the report so far" await shows "$work/waits.err" "^hindcastd: " 1
kill -QUIT "$waits"
check "so does SIGQUIT" await shows "$work/waits.err" "^hindcastd: " 2
check "this report has the counts so far" grep -q "4 joined, at most 4 at once" "$work/waits.err"
# a_report_s: of many SIGUSR1 the first four are obeyed, then one a second; the others are counted.
begin=$(date +%s)
i=0
while [ $i -lt 200 ]; do
    kill -USR1 "$waits"
    i=$((i + 1))
done
a_report_s() {
    reports=$(grep -c "^hindcastd: " "$work/waits.err")
    [ "$reports" -le $((2 + 4 + $(date +%s) - begin + 2)) ]
}
check "of 200 SIGUSR1 few print the report" a_report_s
# On a busy machine few of the signals arrive, as a pending one takes up those that follow.
counted() {
    kill -USR1 "$waits"
    grep -q "log-suppressed kind=report count=[0-9]" "$work/waits.err"
}
check "the others are counted" await counted

kill -STOP "$waits"
kill -TERM "$waits"
sleep 1.5
kill -CONT "$waits"
finish "$waits"
check "SIGTERM while the daemon is stopped: it prints the report" grep -q "^hindcastd: " "$work/waits.out"
check "the verdict says that ticks were late" reasons waits ticks_began_late
check "with --verdict, the exit status says so too" test "$status" = 1
check "the log said so" grep -q "warn  ticks-late count=[0-9]* began_late=[0-9]* worked_too_long=[0-9]* left_out=[0-9]* why=" "$work/waits.err"
check "a status line has the figures for operators" grep -q \
    'status clients=4 tick_work_ms_p50=[0-9.]* tick_work_ms_p99=[0-9.]* over_budget=[0-9]* rewinds_per_s=[0-9]* bytes_down_per_s=[0-9]* bytes_up_per_s=[0-9]*' \
    "$work/waits.err"

# The life of a server has no part in its exit status, unless it is asked for.
start plain hindcastd --dev --bind 127.0.0.1 --port 0 --log-format json --status-every 1
plain=$pid
check "a server starts" await grep -q '^listening' "$work/plain.out"
kill -STOP "$plain"
sleep 1.5
kill -CONT "$plain"
check "its log says that ticks were late" await grep -q '"event":"ticks-late"' "$work/plain.err"
check "it logs its status" await grep -q '"event":"status"' "$work/plain.err"
kill -TERM "$plain"
finish "$plain"
check "its report says so" reasons plain ticks_missed
check "a server that stops as it was told exits with 0" test "$status" = 0
check "its log has numbers as numbers, and says what it serves" python3 - "$work/plain.err" "$plain" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
status = next(line for line in lines if line["event"] == "status")
assert all(type(value) in (int, float) for key, value in status.items() if key not in ("time", "level", "event")), status
started = next(line for line in lines if line["event"] == "started")
assert started["address"] == "127.0.0.1:%d" % started["port"] and started["pid"] == int(sys.argv[2]), started
assert started["audience"] == "0" and started["matches"] == started["workers"] == 1, started
assert started["protocol_id"].startswith("0x") and len(started["protocol_id"]) == 18, started
END

start first_turn hindcastd --dev --bind 127.0.0.1 --port 0 --max-clients 1000 --ticks 2
finish "$pid"
check "a daemon that must end in its first turn ends" report first_turn 'r["ticks"] >= 2'
end
