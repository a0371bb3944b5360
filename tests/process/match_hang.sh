#!/bin/sh
# A match whose step does not return delays neither a report nor the end of the daemon. All other matches play on,
# also those of its worker, and their clients are told of the end. The match plays on when the step returns.
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)

# game NAME STATEMENT: builds tag, whose ball takes the statement at each tick.
game() {
    printf '#include <stdio.h>\nint access(const char *, int);\n#define TAG_BALL_STEP(scene, out) %s\n#include "tests/games/tag.h"\n' "$2" >"$work/$1.c"
    cc -std=c11 -O1 -g -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$work/$1.c"
}
# The seed of match 2 is 6. Clients simulate with the game that returns: its rule is the same.
check "a game builds that takes a file as the order to hang in match 2, until it is gone" game hangs \
    "if ((scene)->world->seed == 6 && !rename(\"$work/hang\", \"$work/hangs\")) while (!access(\"$work/hangs\", 0)) {}"
check "a game builds that does not" game plays "(void)(out)"
[ "$failed" -eq 0 ] || end

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
for match in 1 2 3 4; do
    "$bin/hindcastd" token --key-file "$work/keys" --count 2 --client-id ${match}0 --match $match --life 3600 \
        --game "$work/plays.so" >"$work/tokens$match"
done

# begin NAME: a server of four matches, 2 and 4 on one worker, with two bots in each; match 2 hangs.
begin() {
    run=$1
    rm -f "$work/hangs"
    serve_with "$run" --key-file "$work/keys" --port 0 --matches 4 --workers 2 --max-clients 2 --seed 5 \
        --game "$work/hangs.so" --log-format json
    server=$pid
    for match in 1 2 3 4; do
        start "$run.bots$match" hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/tokens$match" \
            --game "$work/plays.so"
        eval "bots$match=$pid"
    done
    check "$run: bots play in all matches" await shows "$work/$run.err" '"joined"' 8
    : >"$work/hang"
    check "$run: match 2 hangs" await test -e "$work/hangs"
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
# stopped NAME SIGNAL: the signal ends the server.
stopped() {
    since=$(date +%s%N)
    kill "-$2" "$server"
    finish "$server"
    took=$(took)
    echo "        after $took ms"
    check "$1: SIG$2 ends the daemon within 5 s" test "$took" -le 5000
    check "$1: the report says which match hangs, and where" report "$1" \
        '([h["match"] for h in s["hangs"]] == [2] and s["hangs"][0]["lasted_ms"] >= 2000 and
          s["hangs"][0]["place"].startswith("tag_step_ball ("))'
    check "$1: the verdict says so" report "$1" '"match_hangs" in [x["key"] for x in r["verdict"]["reasons"]]'
    check "$1: people read it" grep -q "^  hangs .*match 2, for [0-9.]* s: it is in tag_step_ball (" "$work/$1.out"
    check "$1: the log says whose clients were not told" grep -q '"event":"match-abandoned".*"match":2' "$work/$1.err"
}

begin known
check "the match that hangs is logged" await grep -q '"event":"match-hangs".*"match":2' "$work/known.err"
since=$(date +%s%N)
reported known
took=$(took)
echo "        after $took ms"
check "a report comes within 1 s" test "$took" -le 1000
ticks known
before1=$ticks1 before2=$ticks2 before3=$ticks3 before4=$ticks4
others_go_on() {
    reported known
    ticks known
    [ "$ticks1" -gt "$before1" ] && [ "$ticks3" -gt "$before3" ] && [ "$ticks4" -gt "$before4" ]
}
check "the other matches play on" await others_go_on
check "the match that hangs does not" test "$ticks2" -eq "$before2"
stopped known TERM
for match in 1 3 4; do
    eval "finish \$bots$match"
    check "the bots of the other matches are told that the server shuts down: $match" \
        shows "$work/known.bots$match.err" "the server is shutting down" 1
done

# The signal comes before the daemon knows that the match hangs.
begin unknown
stopped unknown USR2
waits() {
    shows "$work/unknown.bots$1.err" "the server restarts" 1
}
for match in 1 3 4; do
    check "the bots of the other matches are told that the server restarts: $match" await waits $match
done

begin returns
check "the match that hangs is logged" await grep -q '"event":"match-hangs".*"match":2' "$work/returns.err"
rm "$work/hangs"
check "the log says that it goes on" await grep -q '"event":"match-goes-on".*"match":2' "$work/returns.err"
reported returns
ticks returns
before2=$ticks2
goes_on() {
    reported returns
    ticks returns
    [ "$ticks2" -gt "$before2" ]
}
check "the match plays on when the step returns" await goes_on
kill -TERM "$server"
finish "$server"
check "nothing hangs in the end" report returns 's["hangs"] == []'
for match in 1 2 3 4; do
    eval "finish \$bots$match"
    check "all bots are told of the end, and no snapshot was wrong: $match" report "returns.bots$match" \
        'c["closed_by_server"] == 2 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0'
done
end
