#!/bin/sh
# examples/pong is served, played by bots and load tested as a plugin, and examples/duel with NPCs. A plugin
# that a program cannot run exits with 2 and a sentence, and a build with other rules is not admitted.
# plugin.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)

# plugin NAME SOURCE OPTIONS...: builds $work/NAME.so.
plugin() {
    name=$1 source=$2
    shift 2
    cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -I "$root/include" \
        -I "$root/examples/pong" "$@" -o "$work/$name.so" "$source"
}
# variant NAME COMMAND: builds pong with its source changed by a command of sed.
variant() {
    sed "$2" "$root/examples/pong/pong.c" >"$work/$1.c"
    ! cmp -s "$work/$1.c" "$root/examples/pong/pong.c" && plugin "$1" "$work/$1.c"
}
check "pong builds as a plugin" plugin pong "$root/examples/pong/pong.c"
check "pong builds as C17 and without optimisation" plugin debug "$root/examples/pong/pong.c" -std=c17 -O0
check "pong builds with the checks of undeclared reads" \
    plugin checked "$root/examples/pong/pong.c" -DHC_VALIDATE=1
check "pong without bots of its own builds" variant random 's/^static void think/void think/; s/(pong, think)/(pong, NULL)/; s/^void think/void think(const struct hc_bot *bot, void *out);\n&/'
check "faster pong builds" variant faster 's/PADDLE_SPEED = 7/PADDLE_SPEED = 8/'
check "pong with a gap in a table builds" variant gap '/struct pong_ball, vy/d; s/sizeof(struct pong_ball), 6/sizeof(struct pong_ball), 5/'
echo 'const struct { unsigned abi, sizes[6]; const void *game, *think, *level; } hindcast_game = {77, {0}, 0, 0, 0};' >"$work/abi.c"
check "a plugin of another interface builds" plugin abi "$work/abi.c"
cp -r "$root/include" "$work/other"
sed -i 's/^struct hc_scene {/&\n    uint64_t more;/' "$work/other/hindcast/scene.h"
check "a plugin of other headers builds" \
    cc -std=c11 -fPIC -shared -I "$work/other" -I "$root/examples/pong" -o "$work/headers.so" "$root/examples/pong/pong.c"
echo 'int nothing;' >"$work/nothing.c"
check "a library that is no plugin builds" plugin nothing "$work/nothing.c"
echo 'extern int missing; int *needs(void); int *needs(void) { return &missing; }' >"$work/needs.c"
check "a library with a missing symbol builds" plugin needs "$work/needs.c"
check "pong with a level builds" variant level \
    's/input->move \* PADDLE_SPEED/input->move * *(const int8_t *)scene->world->game->level/; s/HC_GAME_EXPORT(pong, think)/HC_GAME_EXPORT_LEVEL(pong, think, "level.bin")/'
[ "$failed" -eq 0 ] || end

# refused PATTERN PLUGIN: all programs exit with 2, and print one line, which matches.
refused() {
    pattern=$1
    for command in "hindcastd --dev" "hindcastd protocol-id" "hindcastd token --key-file $work/keys" \
        "hindcast-bot --connect 127.0.0.1:1" "hindcast-load --spawn"; do
        status=0
        "$bin"/$command --game "$work/$2.so" >"$work/out" 2>"$work/err" || status=$?
        matched() {
            cat "$work/err"
            [ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qe "$pattern" "$work/err"
        }
        check "$command --game $2.so is refused" matched
    done
}
"$bin/hindcastd" key --key-file "$work/keys" >"$work/out"
refused "--game '.*none\.so': .*: cannot open shared object file" none
refused "--game '.*nothing\.so': it has no symbol hindcast_game, which HC_GAME_EXPORT" nothing
refused "--game '.*needs\.so': .*undefined symbol: missing" needs
refused "--game '.*abi\.so': it was compiled for version 77 of the game interface" abi
refused "--game '.*headers\.so': its struct hc_scene has [0-9]* bytes, and this program's" headers
refused "--game '.*gap\.so': ball.wait: offset 6, but byte 5 comes next" gap
refused "--game '.*level\.so': its level '.*level\.bin': No such file" level
: >"$work/level.bin"
refused "--game '.*level\.so': its level '.*level\.bin' is no file of 1 to" level

id() {
    "$bin/hindcastd" protocol-id --game "$work/$1.so"
}
# hindered NAME PATTERN: hindcastd does not start with such a game, and names the function.
hindered() {
    status=0
    "$bin/hindcastd" --dev --game "$work/$1.so" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qe "$2" "$work/err"
}
check "pong whose ball loops builds" variant loops 's/^static bool step_ball.*/&\n    for (;;)\n        __asm__ volatile("");/'
check "a game that does not return at the start is refused with its function" hindered loops \
    "the match that every program plays at its start does not return, in step"
check "pong whose ball crashes builds" variant crashes 's/^static bool step_ball.*/&\n    __builtin_trap();/'
check "a game that crashes at the start is refused with its function" hindered crashes \
    "the match that every program plays at its start ends by signal [0-9]* (.*), in step"

check "the protocol_id does not depend on the compiler's options" test "$(id pong)" = "$(id debug)"
check "the checks of undeclared reads do not change the rule" test "$(id pong)" = "$(id checked)"
check "the bots of a game do not change the rule" test "$(id pong)" = "$(id random)"
check "another rule has another protocol_id" test "$(id pong)" != "$(id faster)"
printf '\007' >"$work/level.bin"
first=$(id level)
check "the protocol_id of a game with a level is the same each time" test "$first" = "$(id level)"
check "a game with a level passes hindcast-check" "$bin/hindcast-check" --game "$work/level.so" --histories 5
printf '\010' >"$work/level.bin"
check "another level has another protocol_id" test "$first" != "$(id level)"
check "a level changes the protocol_id" test "$first" != "$(id pong)"
check "--game FILE without a slash is the file in this directory" \
    sh -c 'cd "$1" && "$2/hindcastd" protocol-id --game pong.so' sh "$work" "$bin"

check "hindcast-check finds no fault in pong" "$bin/hindcast-check" --game "$work/pong.so" --histories 10
check "hindcast-check finds two builds of pong equal" "$bin/hindcast-check" --game "$work/pong.so" \
    --build "$work/debug.so" --histories 10
"$bin/hindcast-check" --game "$work/pong.so" --build "$work/faster.so" --histories 1 >"$work/out" || status=$?
check "hindcast-check names the first field that differs in the other build" \
    grep -q '^build: tick [0-9]*, entity [12] (paddle): another y in the other build. Repeat: hindcast-check .* --build ' "$work/out"
check "hindcast-check refuses another game as the other build" sh -c \
    "! '$bin/hindcast-check' --game '$work/pong.so' --build '$work/level.so' 2>'$work/err' && grep -q 'has another name' '$work/err'"
check "hindcast-check finds no fault in pong with the checks of undeclared reads" \
    "$bin/hindcast-check" --game "$work/checked.so" --histories 10
variant clock 's/^#include <string.h>/&\n#include <time.h>/; s/= hc_scene_random(scene, RANDOM_SERVE)/= (uint64_t)time(NULL)/'
status=0
"$bin/hindcast-check" --game "$work/clock.so" --histories 1 --seed 9 --json "$work/clock.json" >"$work/out" || status=$?
check "hindcast-check exits with 1 and a sentence for a fault" sh -c \
    "test $status = 1 && grep -q '^clock: the plugin imports time: .* Repeat: hindcast-check --game $work/clock.so --seed 9 --histories 1$' '$work/out'"
check "its JSON names the fault" python3 -c \
    'import json, sys; r = json.load(open(sys.argv[1])); assert [f["kind"] for f in r["faults"]] == ["clock"] and r["game"] == "pong", r' \
    "$work/clock.json"
for arguments in "--game $work/none.so" "--histories 0" "--ticks 0" "--seed x" "more"; do
    status=0
    "$bin"/hindcast-check $arguments >"$work/out" 2>"$work/err" || status=$?
    check "hindcast-check $arguments exits with 2" test "$status" = 2
done
for option in --help --version; do
    check "hindcast-check $option" "$bin/hindcast-check" $option
done

# A plugin that ends the program must not pass.
echo 'void exit(int); __attribute__((constructor)) static void ends(void); static void ends(void) { exit(0); }' |
    cat - "$root/examples/pong/pong.c" >"$work/ends.c"
check "a plugin that ends the program builds" plugin ends "$work/ends.c"
status=0
"$bin/hindcast-check" --game "$work/ends.so" >"$work/out" 2>"$work/err" || status=$?
check "hindcast-check exits with 1 and a sentence if a game ends the program" sh -c \
    'test "$1" = 1 && grep -q "^crash: the game ends the program" "$2"' sh "$status" "$work/out"

# A level that is replaced in its place while server and client play.
mkfifo "$work/pipe"
mv "$work/level.bin" "$work/level.before"
mv "$work/pipe" "$work/level.bin"
refused "--game '.*level\.so': its level '.*level\.bin' is no file of 1 to" level
rm "$work/level.bin"
printf '\007' >"$work/level.bin"
serve level --game "$work/level.so"
server=$pid
start player hindcast-bot --connect "127.0.0.1:$port" --game "$work/level.so" --duration 2
player=$pid
joins() {
    grep -q joined "$work/level.err"
}
check "a client of a game with a level joins" await joins
: >"$work/level.bin"
finish "$player"
check "a client plays on with the level that it has read" good player
kill -TERM "$server"
finish "$server"
check "so does the server" good level

# Both players of one server: a bot with a token of the key file, and one of another build.
serve_with server --port 0 --key-file "$work/keys" --game "$work/pong.so"
server=$pid
for user in 1 2; do
    "$bin/hindcastd" token --game "$work/pong.so" --key-file "$work/keys" --life 600 >"$work/token$user"
done
start other hindcast-bot --connect "127.0.0.1:$port" --game "$work/faster.so" --token "$work/token1" --duration 1
finish "$pid"
check "a build with another rule is not admitted, and names its own game and both protocol_ids" sh -c \
    'test "$1" = 1 && grep -qE "client 0 was not admitted by .*: the server plays another game, or another build of pong 1: its protocol_id is 0x[0-9a-f]{16}, and this program.s 0x[0-9a-f]{16}$" "$2/other.err"' sh "$status" "$work"
"$bin/hindcastd" token --game "$work/pong.so" --key-file "$work/keys" --life 600 >"$work/token1"
start first hindcast-bot --connect "127.0.0.1:$port" --game "$work/pong.so" --token "$work/token1" \
    --duration 3 --link bad
first=$pid
start second hindcast-bot --connect "127.0.0.1:$port" --game "$work/random.so" --token "$work/token2" \
    --duration 3 --link bad --timing rewind
second=$pid
finish "$first"
check "a bot of the plugin plays over a bad link" good first
finish "$second"
check "a bot with random inputs plays over a bad link" good second
kill -TERM "$server"
finish "$server"
check "the server of a plugin ends with a good verdict" good server
check "its log names the client of another build, with both protocol_ids" \
    sh -c 'test "$(grep -E " (started|other-build) " "$1" | grep -o "protocol_id=[0-9a-fx]*" | sort -u | wc -l)" = 2' \
    sh "$work/server.err"
check "its log names the game" grep -q 'game=pong\|game="pong"' "$work/server.err"
check "late inputs have changed the past" report server 's["rewinds"] > 0 and inputs["late"] > 0'

start load hindcast-load --spawn --game "$work/pong.so" --duration 3 --link bad --seed 7
finish "$pid"
check "hindcast-load --spawn plays with as many clients as the game has players" good load
check "the load test was of two clients, whose hashes all match" \
    report load 'r["clients"] == 2 and c["hash_checks"] > 100 and c["hash_mismatches"] == 0'
# examples/duel: a level, lag compensation, and NPCs that think on the server.
cp "$root/examples/duel/duel.txt" "$work"
check "duel builds with the checks of undeclared reads" \
    plugin duel "$root/examples/duel/duel.c" -DHC_VALIDATE=1
serve duel --game "$work/duel.so" --npcs 2
server=$pid
start duellers hindcast-bot --connect "127.0.0.1:$port" --game "$work/duel.so" --count 2 --duration 3 \
    --link bad --display-offset 12
finish "$pid"
check "bots duel over a bad link" good duellers
check "they share a world with the server's NPCs" \
    report duellers 'c["hash_checks"] > 100 and c["hash_mismatches"] == 0'
kill -TERM "$server"
finish "$server"
check "the server looks back as far as its clients show" report duel \
    'inputs["received"] > 100 and inputs["shown_ago_unsent"] + inputs["shown_ago_limited"] < inputs["received"] / 10'
status=0
"$bin/hindcastd" --dev --game "$work/pong.so" --max-clients 3 >"$work/out" 2>"$work/err" || status=$?
check "--max-clients above the game's players is refused" sh -c \
    "test $status = 2 && grep -q \"max-clients '3': must be at most the players of the game, which is 2\" '$work/err'"
end
