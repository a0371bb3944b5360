#!/bin/sh
# Games whose rule computes another world in each process: a field that overflows, and a step that counts its
# calls. The daemon, the bots, the load test and the window name the field in their first line.
# desync.sh DIRECTORY_OF_PROGRAMS
set -u
HC_LIMIT=600
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER || :

plugin() {
    cc -std=c11 -O2 -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$2"
}
# The score is a secret of the server that does not always fit its 10 bits.
cat >"$work/narrow.c" <<'END'
#define TAG_SCORE(scene, now, out, count) \
    uint64_t bits = 0; \
    (void)hc_scene_secret_random(scene, 0, &bits); \
    (out)->score = (uint16_t)(1000 + bits % 100)
#include "tests/games/tag.h"
END
# says FILE PATTERN: the first line of the report in the output is NOT OK and matches, and the exit status is 1.
says() {
    line=$(grep -v '^listening on' "$1" | head -n 1)
    echo "$line"
    [ "$status" = 1 ] && echo "$line" | grep -q '^NOT OK: ' && echo "$line" | grep -qe "$2"
}

# named GAME FIELD FAULT: the game is played, and the field is named. FAULT is more of the server's line.
named() {
    game=$1 fault=$3
    where="computed another world than the server: [0-9]*\( of [0-9]*\)\?; first, at tick [0-9]* $2 of entity [0-9]*, a player, is [-0-9]* on the client and [-0-9]* on the server"
    serve "$game" --game "$work/$game.so" --log-format json
    server=$pid
    start "$game.bot" hindcast-bot --connect "127.0.0.1:$port" --count 2 --duration 600 --game "$work/$game.so"
    finish "$pid"
    check "$game: the bots end, and their report names the field" says "$work/$game.bot.out" "clients that $where"
    check "$game: so does a line for a bot" grep -q "client [01] computes another world than 127.0.0.1:$port: at tick [0-9]* $2 of" "$work/$game.bot.err"
    check "$game: their report counts them" report "$game.bot" 'c["desyncs"] == 2'
    if [ -x "$bin/hindcast-view" ]; then
        status=0
        "$bin/hindcast-view" --connect "127.0.0.1:$port" --game "$work/$game.so" --bot --frames 6000 >"$work/view.out" 2>&1 || status=$?
        in_window() {
            cat "$work/view.out"
            [ "$status" = 1 ] && grep -q "NOT OK: another world than the server's: at tick [0-9]* $2 of entity" "$work/view.out"
        }
        check "$game: the window ends, and names the field" in_window "$game" "$2"
    fi
    kill -TERM "$server"
    finish "$server"
    check "$game: the daemon's first line names the field" says "$work/$game.out" "$where"
    check "$game: and the fault of the rule" says "$work/$game.out" "$fault"
    check "$game: its report has entity, field and both values" report "$game" \
        's["desync_count"] >= 2 and s["desyncs"][0]["kind"] == "player" and s["desyncs"][0]["field"] == "'"$2"'" and s["desyncs"][0]["client_value"] != s["desyncs"][0]["server_value"]'
    check "$game: so has its log" python3 - "$work/$game.err" "$2" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
desyncs = [line for line in lines if line["event"] == "desync"]
assert len(desyncs) >= 2 and all(line["level"] == "error" and line["field"] == sys.argv[2] for line in desyncs), lines
END
    start "$game.load" hindcast-load --spawn --clients 2 --light 1 --duration 3 --game "$work/$game.so"
    finish "$pid"
    check "$game: the load test's first line names the field" says "$work/$game.load.out" "clients that $where"
}

check "a game builds whose step counts its calls" plugin repeat "$root/tests/games/broken_repeat.c"
check "a game builds whose score does not fit" plugin narrow "$work/narrow.c"
[ "$failed" -eq 0 ] || end
named repeat score 'clients that computed another world'
overflow='the step of the player with entity [0-9]* wrote 10[0-9]* to score for tick [0-9]*, but its 10 bits hold 0 to 1023'
named narrow score "fields that the game's rule overflowed: 1; first, $overflow"
check "narrow: the log has the overflow" grep -q '"event":"overflow"' "$work/narrow.err"
check "narrow: the report has it" report narrow 's["overflows"][0]["kind"] == "player" and s["overflows"][0]["value"] > 1023'
end
