#!/bin/sh
# One of four matches loops, sleeps or crashes: the log names the match and the place in it, the others play on, and the
# clients of the match learn at once that they shall come back: to another world of it, or to the next server.
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
export TSAN_OPTIONS=report_thread_leaks=0

# game NAME STATEMENT: builds tag, whose ball takes the statement.
game() {
    printf '#include <unistd.h>\n#include <stdio.h>\n#define TAG_BALL_STEP(scene, out) %s\n#include "tests/games/tag.h"\n' \
        "$2" >"$work/$1.c"
    cc -std=gnu11 -O1 -g -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$work/$1.c"
}
# Clients simulate too, with the game that obeys no order: its rule is the same.
check "a game builds that plays on" game plays '(void)(out)'
# The worlds of match 2 have seeds 6, 10 and so on.
ordered="if ((scene)->world->seed % 4 == 2 && !rename(\"$work/order\", \"$work/obeyed\"))"
check "a game builds that sleeps until the order is gone" game sleeps "$ordered while (!access(\"$work/obeyed\", 0)) usleep(5000)"
check "a game builds that loops" game loops "$ordered for (;;) __asm__ volatile(\"\")"
check "a game builds that crashes" game crashes "$ordered *(volatile int *)8 = 1"
[ "$failed" -eq 0 ] || end

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
for match in 1 2 3 4; do
    "$bin/hindcastd" token --key-file "$work/keys" --count 2 --client-id ${match}0 --match $match --life 3600 \
        --game "$work/plays.so" >"$work/tokens$match"
done

# begin NAME GAME ARGUMENTS...: a server of four matches, 2 and 4 on one worker, with two bots in each.
begin() {
    run=$1 game=$2
    shift 2
    rm -f "$work/obeyed"
    serve_with "$run" --key-file "$work/keys" --port 0 --matches 4 --workers 2 --max-clients 4 --seed 5 \
        --game "$work/$game.so" --log-format json --admin "unix:$work/$run.sock" "$@"
    server=$pid
    for match in 1 2 3 4; do
        start "$run.bots$match" hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/tokens$match" \
            --game "$work/plays.so"
        eval "bots$match=$pid"
    done
    check "$run: bots play in all matches" await shows "$work/$run.err" '"joined"' 8
}
# order: match 2 obeys.
order() {
    : >"$work/order"
    check "$run: match 2 obeys" await test -e "$work/obeyed"
}
# answers CODE PATH: the admin face does.
answers() {
    [ "$(python3 "$here/admin.py" "unix:$work/$run.sock" code "$2")" = "$1" ]
}
# untold: no bot of the other matches has lost its connection.
untold() {
    ! grep -q "lost" "$work/$run.bots1.err" "$work/$run.bots3.err" "$work/$run.bots4.err"
}
# ended MATCHES EXPRESSION: so have all bots of these matches.
ended() {
    for match in $1; do
        eval "finish \$bots$match"
        check "$run: the bots of match $match: $2" report "$run.bots$match" "$2 and c['hash_mismatches'] == 0"
    done
}

begin sleeps sleeps
order
check "the log names the match that hangs, with tick, entity and function" await grep -q \
    '"event":"match-hangs".* it is in tag_step_ball (.*"match":2,"tick":[0-9]*,"entity":[1-9][0-9]*,"phase":"advance"' \
    "$work/sleeps.err"
check "the log says that the match is stuck, and of two clients" await grep -q \
    '"event":"match-stuck","match":2,"ticks":[0-9]*,"lasted_ms":[0-9]*,"clients":2,"why":"the call does not return: the clients come back to another world"' \
    "$work/sleeps.err"
check "its clients are told" await shows "$work/sleeps.bots2.err" "lost its connection: the server restarts" 2
check "they come back to another world" await shows "$work/sleeps.err" '"joined".*"match":2' 4
check "the daemon is healthy again, although the call still hangs" await answers 200 /healthz
check "no other client has noticed anything" untold
rm "$work/obeyed"
check "the call returns, and its thread ends" await grep -q '"event":"match-goes-on".*"match":2' "$work/sleeps.err"
kill -TERM "$server"
finish "$server"
check "the server ends with its verdict" test "$status" -le 1
check "nothing hangs in the end" report sleeps 's["hangs"] == []'
ended 2 "c['reconnects'] == 2 and c['closed_by_server'] == 2 and c['timeouts'] == 0 and c['denied'] == 0"
ended "1 3 4" "c['reconnects'] == 0 and c['closed_by_server'] == 2"

# The next world of the match hangs too, while the call into the first one still does.
begin twice loops
order
check "the clients come back to another world" await shows "$work/twice.err" '"joined".*"match":2' 4
check "twice: the daemon is healthy" await answers 200 /healthz
rm -f "$work/obeyed"
order
check "the log says that no other world follows" await grep -q \
    '"event":"match-stuck","match":2.*"why":"the call does not return, and no other world follows"' "$work/twice.err"
check "the clients are told that it is over" await shows "$work/twice.bots2.err" "the server is shutting down" 2
check "twice: the daemon is not healthy any more" answers 503 /healthz
check "twice: no other client has noticed anything" untold
kill -TERM "$server"
finish "$server"
ended 2 "c['reconnects'] == 2 and c['closed_by_server'] == 2"
ended "1 3 4" "c['reconnects'] == 0 and c['closed_by_server'] == 2"

begin ends loops --stuck-policy end --restart-seconds 1
order
finish "$server"
check "with --stuck-policy end the server ends with status 70" test "$status" -eq 70
check "the log says why" grep -q '"event":"stopping","reason":"a match is stuck"' "$work/ends.err"
for match in 1 2 3 4; do
    check "all bots are told that it restarts: $match" \
        await shows "$work/ends.bots$match.err" "lost its connection: the server restarts" 2
done
serve_with next --key-file "$work/keys" --port "$port" --matches 4 --workers 2 --max-clients 4 --game "$work/plays.so"
server=$pid
check "all come back to the next one" await shows "$work/next.err" ' joined ' 8
kill -TERM "$server"
finish "$server"
ended "1 2 3 4" "c['reconnects'] == 2 and c['closed_by_server'] == 2"

begin crashes crashes
order
finish "$server"
check "a crash ends the server by its signal" test "$status" -eq 139
check "its last words name match, tick, entity, phase and function" grep -q \
    '"event":"crash","signal":11,"match":2,"tick":[0-9]*,"entity":[1-9][0-9]*,"phase":"advance",.*in tag_step_ball (' \
    "$work/crashes.err"
for match in 1 2 3 4; do
    check "all bots are told to come back: $match" \
        await shows "$work/crashes.bots$match.err" "lost its connection: the server restarts" 2
done
serve_with after --key-file "$work/keys" --port "$port" --matches 4 --workers 2 --max-clients 4 --game "$work/plays.so"
server=$pid
check "all come back to the next server" await shows "$work/after.err" ' joined ' 8
kill -TERM "$server"
finish "$server"
ended "1 2 3 4" "c['reconnects'] == 2 and c['closed_by_server'] == 2"
end
