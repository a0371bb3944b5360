#!/bin/sh
# Bots and a window with tokens of hindcastd --dev play on when it is killed and started again at its port, also
# with another build of its game: they load the plugin's file anew.  dev_restart.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER || :

# plugin NAME SOURCE OPTIONS...: builds $work/NAME.so in place of an earlier one.
plugin() {
    name=$1 source=$2
    shift 2
    cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -g -I "$root/include" \
        -I "$root/examples/pong" "$@" -o "$work/$name.so" "$source"
}
# rebuild COMMAND: builds the plugin pong from its source, changed by a command of sed.
rebuild() {
    sed "$1" "$root/examples/pong/pong.c" >"$work/pong.c" && plugin pong "$work/pong.c"
}
restart() {
    kill -9 "$server"
    finish "$server"
    serve_again "$@"
}
# never_silent FILE: no client waited for its timeout of 10 s. A machine may be so busy that a start takes as long.
never_silent() {
    [ "$longest" -ge 8 ] || ! grep 'received nothing from the server for too long' "$1"
}

serve_again one --dev --max-clients 2
start bots hindcast-bot --connect "127.0.0.1:$port" --count 2 --link ok
bots=$pid
check "two bots play" await shows "$work/one.err" " joined " 2
longest=0
for restarts in 1 2; do
    killed=$(date +%s)
    restart "again$restarts" --dev --max-clients 2
    took=$(($(date +%s) - killed))
    longest=$((took > longest ? took : longest))
    check "after restart $restarts all play again, with new tokens" await shows "$work/again$restarts.err" " joined " 2
done
check "they print it once for each restart" test "$(grep -c 'was started anew: all clients join it again' "$work/bots.err")" = 2
check "none of them waited for its timeout" never_silent "$work/bots.err"
kill -USR2 "$server"
finish "$server"
serve_again planned --dev --max-clients 2
check "after a planned restart all play again" await shows "$work/bots.err" "plays on" 8
kill -TERM "$bots"
finish "$bots"
check "each began four sessions, and every snapshot was right" report bots \
    "(c['accepted'] == 8 and c['left'] == 2 and c['connections_lost'] == c['reconnects'] == 6 and
      c['hash_checks'] > 0 and c['hash_mismatches'] == 0)"
kill -TERM "$server"
finish "$server"

# The game is rebuilt with other rules, then with a level, and then as it was at first.
check "pong builds" rebuild ''
cp "$root/examples/pong/pong.h" "$work"
check "its drawing builds" plugin drawing "$root/examples/pong/drawing.c"
printf '\007' >"$work/level.bin"
port=0
serve_again pong --dev --game "$work/pong.so"
start pair hindcast-bot --connect "127.0.0.1:$port" --game "$work/pong.so" --count 1
pair=$pid
check "a bot plays pong" await shows "$work/pong.err" " joined " 1
"$bin/hindcast-view" --connect "127.0.0.1:$port" --game "$work/pong.so" --drawing "$work/drawing.so" --bot \
    --frames 900 --screenshot "$work/view.png" >"$work/view.out" 2>"$work/view.err" &
view=$!
running="$running $view"
check "so does a window" await shows "$work/pong.err" " joined " 2
# replays NAME TEXT COMMAND: both clients play again on a server of the plugin as COMMAND of sed rebuilds it.
replays() {
    kill -9 "$server"
    finish "$server"
    check "$2 builds" rebuild "$3"
    serve_again "$1" --dev --game "$work/pong.so"
    check "bot and window play $2" await shows "$work/$1.err" " joined " 2
}
replays faster "pong with other rules" 's/PADDLE_SPEED = 7/PADDLE_SPEED = 8/; s/\.version = [0-9]*/.version = 77/'
replays level "pong with a level" \
    's/input->move \* PADDLE_SPEED/input->move * *(const int8_t *)scene->world->game->level/; s/HC_GAME_EXPORT(pong, think)/HC_GAME_EXPORT_LEVEL(pong, think, "level.bin")/; s/\.version = [0-9]*/.version = 78/'
replays first "pong as it was" ''
for client in pair view; do
    check "$client names the game that it has loaded" grep -q 'started anew and plays pong 77: ' "$work/$client.err"
done
finish "$view"
check "the window has drawn all of its frames" test "$status" = 0
check "the last one shows both paddles in a green court" python3 "$here/picture.py" "$work/view.png" \
    "count('1b2e22') > width * height / 4" "count('4cc9f0') > 200 and count('ff9f1c') > 200"

# A game that the client has no file of.
restart arena --dev
finish "$pair"
check "a bot whose game the new server does not play ends, and names both" sh -c \
    "test $status = 1 && grep -q 'the server plays arena [0-9]*, and this program pong [0-9]* (--game FILE)' '$work/pair.err'"
status=0
"$bin/hindcast-bot" --connect "127.0.0.1:$port" --game "$work/pong.so" >"$work/out" 2>"$work/err" || status=$?
check "so does one that begins with another game" sh -c \
    "test $status = 1 && grep -q 'the server plays arena [0-9]*, and this program pong [0-9]* (--game FILE)' '$work/err'"
kill -TERM "$server"
finish "$server"
end
