#!/bin/sh
# The first line of a report and the exit status give the verdict; a running daemon reports on a signal.
set -u
HC_LIMIT=120
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
kill -STOP "$waits"
kill -TERM "$waits"
sleep 1.5
kill -CONT "$waits"
finish "$waits"
check "SIGTERM while the daemon is stopped: it prints the report" grep -q "^hindcastd: " "$work/waits.out"
check "the verdict says that ticks were late" reasons waits ticks_began_late
check "a status line has the figures for operators" grep -q \
    'status clients=4 tick_work_ms_p50=[0-9.]* tick_work_ms_p99=[0-9.]* over_budget=[0-9]* rewinds_per_s=[0-9]* bytes_down_per_s=[0-9]* bytes_up_per_s=[0-9]*' \
    "$work/waits.err"

start first_turn hindcastd --dev --bind 127.0.0.1 --port 0 --max-clients 1000 --ticks 2
finish "$pid"
check "a daemon that must end in its first turn ends" report first_turn 'r["ticks"] >= 2'
end
