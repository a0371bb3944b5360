#!/bin/sh
# --trace writes what ticks, rewinds, frames and checks do, and disturbs none of them.
set -u
. "$(dirname "$0")/lib.inc"

# trace NAME PROGRAM EXPRESSION...: the file is a trace, for which the expressions hold.
trace() {
    name=$1
    shift
    python3 "$here/trace.py" "$work/$name.json" "$@"
}

# A server whose clients' inputs are late.
serve server --trace "$work/ticks.json"
server=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 4 --latency 80 --timing rewind
bots=$pid
check "inputs come late" await python3 -c "
import sys
text = open('$work/ticks.json').read()
sys.exit(text.count('late input') < 40 or text.count('snapshot') < 200)"
kill -TERM "$bots"
finish "$bots"
kill -TERM "$server"
finish "$server"
check "the trace of a server is whole" trace ticks hindcastd whole
check "each tick has its number, and its parts within" trace ticks hindcastd \
    '[a["tick"] for a in args["tick"]] == sorted({a["tick"] for a in args["tick"]})' \
    'inside("step", "tick") == len(all["step"]) >= len(all["tick"])' 'inside("snapshot", "send") == len(all["snapshot"])'
check "rewinds name their depth, and the clients and inputs that caused them" trace ticks hindcastd \
    'inside("rewind", "advance") == len(all["rewind"]) > 10' \
    'sum(a.get("ticks", 0) > 0 and a["depth"] == a["head"] - a["from"] for a in args["rewind"]) > 10' \
    'len({a["cid"] for a in args["late input"] if "cid" in a} & {a["cid"] for a in args["snapshot"]}) == 4' \
    'sum(a["late_ticks"] > 0 for a in args["late input"]) == len(args["late input"])'
check "the threads have tracks, too" trace ticks hindcastd 'sum(a["datagrams"] for a in args["receive"]) > 100' \
    '{a["name"] for a in args["thread_name"]} == {"match 1", "worker 1", "control thread"}' 'len(all["check"]) > 1'
check "the log says how it ended" grep -q " trace-ended file=.* records=[1-9][0-9]* dropped=0" "$work/server.err"
check "nothing is wrong in the match" report bots 'c["hash_mismatches"] == 0 and c["connections_lost"] == 0'

# Begun and ended by order, beside another reader of rewinds, the inspector.
serve ordered --admin 127.0.0.1:0
ordered=$pid
at=
opened() {
    at=$(sed -n 's/.* admin-open at=\([^ ]*\) .*/\1/p' "$work/ordered.err")
    [ -n "$at" ]
}
await opened
ctl() {
    "$bin/hindcastctl" --admin "$at" trace "$@"
}
start players hindcast-bot --connect "127.0.0.1:$port" --count 4 --latency 80 --timing rewind
players=$pid
check "no trace can be ended" ctl off
check "a relative path is none" sh -c "! '$bin/hindcastctl' --admin '$at' trace here.json"
check "a trace begins by order" ctl "$work/order.json"
check "once there are rewinds" await sh -c "[ \$(grep -c '\"late input\"' '$work/order.json') -gt 40 ]"
check "it ends by order" ctl off
check "as the log says" await grep -q " trace-ended file=.*order.json" "$work/ordered.err"
check "and is whole" trace order hindcastd whole 'inside("step", "tick") == len(all["step"]) > 10' \
    'len(all["late input"]) > 40'
check "no order overwrites a file" ctl "$work/order.json"
check "as the log says, too" await grep -q " trace-failed why=.*File exists" "$work/ordered.err"
kill -TERM "$players"
finish "$players"
kill -TERM "$ordered"
finish "$ordered"

# Bounds, and files that cannot be written.
refused() {
    pattern=$1
    shift
    status=0
    timeout 60 "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 1 ] && grep -q -e "$pattern" "$work/err"
}
mkfifo "$work/fifo"
check "a folder that is not there is named" refused "hindcastd: --trace '/nonexistent/t': No such file" \
    "$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 --trace /nonexistent/t
check "so is a file that is none" refused "hindcastd: --trace '$work/fifo': " \
    "$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 --trace "$work/fifo"
check "also by hindcast-check" refused "hindcast-check: --trace '/nonexistent/t': No such file" \
    "$bin/hindcast-check" --histories 1 --trace /nonexistent/t
serve full --trace "$work/limit.json" --trace-limit 1 --tick-rate 240 --npcs 7 --force-rewind 1
full=$pid
check "a trace ends at its limit" await grep -q " trace-full .*bytes=9[0-9]\{5\} " "$work/full.err"
check "and is whole" trace limit hindcastd whole
first=$(stat -c %s "$work/limit.json")
kill -TERM "$full"
finish "$full"
check "the server has played on, and left it" sh -c "[ $first = $(stat -c %s "$work/limit.json") ]"
(
    ulimit -f 200 # blocks of 512 bytes: of this file, and of the others
    exec "$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 --tick-rate 240 --npcs 7 --force-rewind 1 --trace "$work/disk.json" \
        >"$work/disk.out" 2>"$work/disk.err"
) &
disk=$!
running="$running $disk"
check "a disk that is full is said" await grep -q " trace-failed why=.*disk.json': File too large" "$work/disk.err"
check "what it took is a trace" trace disk hindcastd 'len(all["tick"]) > 50'
kill -TERM "$disk"
finish "$disk"
check "and the server ends as ever" test "$status" = 0
serve killed --trace "$work/early.json"
killed=$pid
check "a trace is written while its server plays" await sh -c "[ \$(grep -c '\"tick\"' '$work/early.json') -gt 20 ]"
kill -9 "$killed"
finish "$killed"
check "that of a killed one can be read" trace early hindcastd 'not whole and len(all["tick"]) > 10'

# The other programs.
check "a check runs" "$bin/hindcast-check" --histories 3 --trace "$work/check.json"
check "its trace has the parts of each history" trace check hindcast-check whole \
    '[a["seed"] for a in args["history"]] == [1, 2, 3]' 'inside("late inputs", "history") == 3'
if [ -x "$bin/hindcast-view" ]; then
    check "a window draws" "$bin/hindcast-view" --spawn --split --bot --latency 60 --frames 120 \
        --trace "$work/view.json"
    check "its trace has frames, predicted ticks, and rollbacks with their causes" trace view hindcast-view whole \
        'len(all["frame"]) > 100 and inside("draw", "frame") == len(all["draw"])' \
        'inside("predicted tick", "turn") == len(all["predicted tick"]) > 100' \
        'inside("rollback", "turn") == len(all["rollback"]) > 3' \
        'len(all["late input"]) + len(all["received state"]) > 0'
fi
end
