#!/bin/sh
# A match whose step does not return delays neither a report nor the end of the daemon. All other matches play on,
# also those of its worker, and their clients are told of the end. The match plays on when the step returns. The same
# holds while the next world of a match is made.
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
# The daemon ends without the threads that hang.
export TSAN_OPTIONS=report_thread_leaks=0
slower=1
! grep -q ThreadSanitizer "$bin/hindcastd" || slower=4

# game NAME MACRO STATEMENT: builds tag, in which the statement is the macro.
game() {
    printf '#include <stdio.h>\nint access(const char *, int);\nint usleep(unsigned);\n#define %s %s\n#include "tests/games/tag.h"\n' \
        "$2" "$3" >"$work/$1.c"
    cc -std=c11 -O1 -g -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$work/$1.c"
}
wait_there="if (!rename(\"$work/hang\", \"$work/hangs\")) while (!access(\"$work/hangs\", 0)) usleep(5000)"
# The seed of match 2 is 6, that of its next world 10. Clients simulate with the game that returns: its rule is the same.
check "a game builds that takes a file as the order to hang in match 2, until it is gone" \
    game steps "TAG_BALL_STEP(scene, out)" "if ((scene)->world->seed == 6) { $wait_there; }"
check "a game builds that hangs so in the start of the next world" \
    game starts "TAG_START(ball)" "if (world->seed == 10) { $wait_there; }"
check "a game builds that does not" game plays "TAG_BALL_STEP(scene, out)" "(void)(out)"
[ "$failed" -eq 0 ] || end

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
# tokens NAME MATCH FIRST_USER
tokens() {
    "$bin/hindcastd" token --key-file "$work/keys" --count 2 --client-id "$3" --match "$2" --life 3600 \
        --game "$work/plays.so" >"$work/$1"
}
for match in 1 2 3 4; do
    tokens tokens$match $match ${match}0
done

# bots NAME TOKENS: starts two bots with these tokens; sets $pid.
bots() {
    start "$1" hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/$2" --game "$work/plays.so"
}
# begin NAME GAME: a server of four matches, 2 and 4 on one worker, with two bots in each.
begin() {
    run=$1
    rm -f "$work/hangs"
    serve_with "$run" --key-file "$work/keys" --port 0 --matches 4 --workers 2 --max-clients 4 --seed 5 --stuck-after 3600 \
        --game "$work/$2.so" --log-format json --admin "unix:$work/admin.sock"
    server=$pid
    for match in 1 2 3 4; do
        bots "$run.bots$match" tokens$match
        eval "bots$match=$pid"
    done
    check "$run: bots play in all matches" await shows "$work/$run.err" '"joined"' 8
}
# hangs NAME PLACE: match 2 hangs there, and its log says so.
hangs() {
    : >"$work/hang"
    check "$1: match 2 hangs" await test -e "$work/hangs"
    check "$1: the match that hangs is logged" \
        await grep -q "\"event\":\"match-hangs\".* it is in $2 (.*\"match\":2" "$work/$1.err"
}
# answers CODE PATH: the admin face does.
answers() {
    [ "$(python3 "$here/admin.py" "unix:$work/admin.sock" code "$2")" = "$1" ]
}
# took: milliseconds since $since.
took() {
    echo $((($(date +%s%N) - since) / 1000000))
}
# reported NAME: asks for a report, and waits for it.
reported() {
    reports=$(grep -c '"matches":\[{' "$work/$1.err")
    kill -USR1 "$server"
    await shows "$work/$1.err" '"matches":\[{' $((reports + 1))
}
# ticks NAME: a variable for the ticks of each match in the newest report, $ticks1 to $ticks4.
ticks() {
    eval "$(grep '"matches":\[{' "$work/$1.err" | tail -n 1 | python3 -c '
import json, sys
for match in json.load(sys.stdin)["matches"]:
    print("ticks{match}={ticks}".format(**match))')"
}
# ended NAME SIGNAL: the signal ends the server.
ended() {
    since=$(date +%s%N)
    kill "-$2" "$server"
    finish "$server"
    took=$(took)
    echo "        after $took ms"
    check "$1: SIG$2 ends the daemon within 5 s" test "$took" -le $((5000 * slower))
}
# stopped NAME SIGNAL PLACE: the signal ends the server, in which match 2 hangs there.
stopped() {
    ended "$1" "$2"
    check "$1: the report says which match hangs, and where" report "$1" \
        "([h['match'] for h in s['hangs']] == [2] and s['hangs'][0]['lasted_ms'] >= 2000 and
          s['hangs'][0]['place'].startswith('$3 ('))"
    check "$1: the verdict says so" report "$1" '"match_hangs" in [x["key"] for x in r["verdict"]["reasons"]]'
    check "$1: people read it" grep -q "^  hangs .*match 2, for [0-9.]* s: it is in $3 (" "$work/$1.out"
    check "$1: the log says which match was left behind" grep -q '"event":"match-abandoned".*"match":2' "$work/$1.err"
}
# go_on NAME: the other matches have played on since the ticks of $before1 to $before4.
go_on() {
    reported "$1"
    ticks "$1"
    [ "$ticks1" -gt "$before1" ] && [ "$ticks3" -gt "$before3" ] && [ "$ticks4" -gt "$before4" ]
}
# others_go_on NAME: checks that.
others_go_on() {
    reported "$1"
    ticks "$1"
    before1=$ticks1 before2=$ticks2 before3=$ticks3 before4=$ticks4
    check "$1: the other matches play on" await go_on "$1"
}

begin known steps
check "the daemon is healthy" answers 200 /healthz
hangs known tag_step_ball
check "it is not while a match hangs" answers 503 /healthz
check "but the other matches admit clients" answers 200 /readyz
check "the status has the match that hangs, and the clients of the others" sh -c \
    "python3 '$here/admin.py' 'unix:$work/admin.sock' get /status | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert [h[\"match\"] for h in s[\"hangs\"]] == [2] and not s[\"healthy\"] and s[\"ready\"], s
assert [len(m[\"clients\"]) for m in s[\"matches\"]] == [2, 0, 2, 2], s'"
since=$(date +%s%N)
reported known
took=$(took)
echo "        after $took ms"
check "a report comes within 1 s" test "$took" -le $((1000 * slower))
others_go_on known
check "the match that hangs does not" test "$ticks2" -eq "$before2"
stopped known TERM tag_step_ball
for match in 1 3 4; do
    eval "finish \$bots$match"
    check "the bots of the other matches are told that the server shuts down: $match" \
        shows "$work/known.bots$match.err" "the server is shutting down" 1
done

# The signal comes before the daemon knows that the match hangs.
begin unknown steps
: >"$work/hang"
check "unknown: match 2 hangs" await test -e "$work/hangs"
stopped unknown USR2 tag_step_ball
waits() {
    shows "$work/unknown.bots$1.err" "the server restarts" 1
}
for match in 1 3 4; do
    check "the bots of the other matches are told that the server restarts: $match" await waits $match
done

# The step returns while the daemon ends.
begin ends steps
hangs ends tag_step_ball
rm "$work/hangs"
ended ends TERM
check "ends: the daemon ends as it was told" test "$status" -le 1
for match in 1 3 4; do
    eval "finish \$bots$match"
    check "ends: the bots of the other matches are told: $match" report "ends.bots$match" 'c["closed_by_server"] == 2'
done

# The daemon is killed while a thread hangs whose worker has another one.
begin killed steps
hangs killed tag_step_ball
kill -9 "$server"
finish "$server"
serve_with again --key-file "$work/keys" --port "$port" --matches 4 --workers 2 --max-clients 4 --game "$work/plays.so" \
    --log-format json
server=$pid
check "killed: the clients of all matches come back to another daemon" await shows "$work/again.err" '"joined"' 8
kill -TERM "$server"
finish "$server"
for match in 1 2 3 4; do
    eval "finish \$bots$match"
    check "killed: all have come back once, and no snapshot was wrong: $match" report "killed.bots$match" \
        'c["reconnects"] == 2 and c["closed_by_server"] == 2 and c["hash_mismatches"] == 0'
done

# Clients may join the former world while the next one is made.
begin makes starts
kill -TERM "$bots2"
finish "$bots2"
hangs makes tag_start
others_go_on makes
tokens newcomers 2 60
bots makes.newcomers newcomers
newcomers=$pid
check "makes: clients join the match meanwhile" await shows "$work/makes.err" '"joined".*"match":2' 4
rm "$work/hangs"
check "makes: the log says that it goes on" await grep -q '"event":"match-goes-on".*"match":2' "$work/makes.err"
kill -TERM "$newcomers"
finish "$newcomers"
: >"$work/hang"
check "makes: the next world hangs again" await test -e "$work/hangs"
check "makes: that is logged too" await shows "$work/makes.err" '"event":"match-hangs".*"match":2' 2
stopped makes TERM tag_start

# Keys are read while a match hangs, which has them when its step returns.
begin returns steps
hangs returns tag_step_ball
"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
kill -HUP "$server"
check "returns: SIGHUP reads the keys" await grep -q '"event":"keys-read"' "$work/returns.err"
for match in 2 4; do
    tokens new$match $match 7$match
    bots returns.new$match new$match
    eval "new$match=$pid"
done
check "returns: clients join by the new key in another match of the worker" \
    await shows "$work/returns.err" '"joined".*"match":4' 4
rm "$work/hangs"
check "returns: the log says that it goes on" await grep -q '"event":"match-goes-on".*"match":2' "$work/returns.err"
check "returns: clients join by the new key in the match that hung" await shows "$work/returns.err" '"joined".*"match":2' 4
reported returns
ticks returns
before2=$ticks2
goes_on() {
    reported returns
    ticks returns
    [ "$ticks2" -gt "$before2" ]
}
check "returns: the match plays on when the step returns" await goes_on
kill -TERM "$server"
finish "$server"
check "returns: nothing hangs in the end" report returns 's["hangs"] == []'
for name in bots1 bots2 bots3 bots4 new2 new4; do
    eval "finish \$$name"
    check "returns: all bots are told of the end, and no snapshot was wrong: $name" report "returns.$name" \
        'c["closed_by_server"] == 2 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0'
done
end
