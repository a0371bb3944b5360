#!/bin/sh
# hindcast-view draws the arena, pong and a game without a drawing, in one or two panes, with and without
# the overlay, and lets a bot play; pictures are looked at by their pixels.  view.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER || :

# takes NAME ARGUMENTS...: plays on the server and writes $work/NAME.png.
takes() {
    name=$1
    shift
    "$bin/hindcast-view" --connect "127.0.0.1:$port" --screenshot "$work/$name.png" "$@"
}
# pixels NAME EXPRESSION...: the expressions, by picture.py, hold for the picture.
pixels() {
    name=$1
    shift
    python3 "$here/picture.py" "$work/$name.png" "$@"
}
# The colours of the drawings.
mark=8ecae6 own=4cc9f0 wall=566074 floor=222731 shot=ffe066 title=f4f6fa gap=0b0d11 other=ff9f1c figure=a8b0c0 bars=ef476f

serve arena
arena=$pid
check "it plays the arena without a display" takes one --frames 20
check "one pane fills the window with floor and walls, the own player and a title" pixels one \
    "(width, height) == (1280, 640)" "count('$floor') > width * height / 5" "count('$wall') > 5000" \
    "count('$own') > 200" "count('$title') > 200" "at(width // 2, height - 1) != '$gap'"
check "without a bot nobody shoots" pixels one "count('$shot') == 0"
letters() {
    python3 "$here/picture.py" "$work/$1.png" "print(count('$title')) is None"
}
check "it plays under a name" takes named --frames 60 --name "Ada, the Countess of Lvlc"
check "the name stands above the player" test "$(letters named)" -gt "$(($(letters one) + 300))"
check "it plays with the overlay" takes overlay --frames 20 --overlay
figures() {
    python3 "$here/picture.py" "$work/$1.png" "print(count('$figure')) is None"
}
check "the overlay names its figures" test "$(figures overlay)" -gt "$(($(figures one) + 500))"

check "it plays with the list of keys" takes keys --frames 20 --keys
check "the list names the fields of the input" test "$(figures keys)" -gt "$(($(figures one) + 500))"
check "its window has the given size" takes small --frames 5 --overlay --width 300 --height 200
check "so has the picture" pixels small "(width, height) == (300, 200)"
check "tests/picture.sh takes the pictures of the pages" sh "$root/tests/picture.sh" "$bin" "$work/readme.png" \
    "$work/list.png"
check "the list of keys stands in the other one" pixels list "(width, height) == (960, 540)" "count('$figure') > 1000"
check "it has two panes with figures and bars" pixels readme "(width, height) == (1600, 700)" \
    "all(count('$floor', left, left + 0.5) > 20000 for left in (0, 0.5))" "count('$figure') > 1000" "count('$bars') > 20"

check "it plays in two panes" takes two --frames 20 --split --link good --right-link ok
check "both panes show their own player, with a gap between them" pixels two "count('$own', 0, 0.5) > 200" \
    "count('$own', 0.5, 1) > 200" "at(width // 2, height // 2) == '$gap'"

# Each key of the window once, as a person would press it, and what it prints.
presses() {
    takes pressed --frames 30 --split --link ok --right-link ok --timing balanced --others predicted \
        --press "F1,F2,F3,F4,F5,F6,F7,F8,F9,F10,Tab,F3,Left Shift+F8" >"$work/pressed.out" &&
        cmp "$work/pressed.out" - <<END
left: bad link: 80 ms +- 20, 5 % loss
left: jitter 10 ms
left: jitter 20 ms
left: ahead: input delay auto, 0 to 3; lead auto, 0 to 20
left: input delay 0 ticks
left: others as received
left: display offset 1 ticks
right: bad link: 80 ms +- 20, 5 % loss
left: input delay 0 ticks
right: input delay 0 ticks
END
}
check "each key of the window changes the client that has the keys, and prints it once" presses
check "F1 and F2 show figures and keys, and a line marks the client that has the keys" pixels pressed \
    "count('$figure') > 1000" "count('$mark', 0, 0.5) == 0" "count('$mark', 0.5, 1) > 600"
check "its Escape key ends it" sh -c \
    "! '$bin/hindcast-view' --connect '127.0.0.1:$port' --frames 30 --press Escape 2>'$work/escape.err' &&
        grep -q 'ended after [12] of 30 frames of play' '$work/escape.err'"
check "it plays with taps, each pressed and released between two frames" takes tap --frames 12 --press \
    Space,Space,Space,Space,Space,Space,Space,Space,Space,Space,Space,Space
check "they shoot" pixels tap "count('$shot') > 20"

a_bot_shoots() {
    takes bot --frames 90 --bot && pixels bot "count('$shot') > 20"
}
check "a bot plays" await a_bot_shoots
kill -TERM "$arena"
finish "$arena"
check "the arena's server ends with a good verdict" good arena

plugin() {
    cc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -I "$root/include" -o "$work/$1.so" "$2"
}
check "pong builds" plugin pong "$root/examples/pong/pong.c"
check "pong's drawing builds" plugin drawing "$root/examples/pong/drawing.c"
serve pong --game "$work/pong.so"
pong=$pid
check "it plays pong" takes pong --frames 20 --game "$work/pong.so" --drawing "$work/drawing.so" --split
check "both see a green court, their own paddle and the other one" pixels pong \
    "count('1b2e22') > width * height / 4" \
    "all(count(colour, left, left + 0.5) > 200 for left in (0, 0.5) for colour in ('$own', '$other'))"
check "it plays a game without a drawing" takes dots --frames 20 --game "$work/pong.so"
check "such a game is dots" pixels dots "count('$own') > 100" "count('1b2e22') == 0"

# refused STATUS PATTERN ARGUMENTS...: the exit status and a sentence.
refused() {
    wanted=$1 pattern=$2
    shift 2
    status=0
    "$bin/hindcast-view" "$@" >"$work/refused.log" 2>&1 || status=$?
    cat "$work/refused.log"
    [ "$status" -eq "$wanted" ] && grep -qe "$pattern" "$work/refused.log"
}
check "without a display it does not play unseen" refused 1 "no window: there is no display" --spawn
check "a key that is none is named" refused 1 "'F99' is no key" --spawn --frames 5 --press F1,F99
check "a screenshot needs a number of frames" refused 2 "needs --frames" --spawn --screenshot x.png
check "a name can be shown" refused 2 "must be UTF-8 that can be shown" --spawn --name "$(printf 'A\nB')"
check "the right link needs two panes" refused 2 "is for --split" --spawn --right-link ok
check "a drawing is one of its game" refused 2 "--drawing FILE needs --game" --spawn --drawing x.so
check "a plugin without a drawing is named" refused 1 "has no symbol hindcast_drawing" \
    --connect "127.0.0.1:$port" --frames 1 --game "$work/pong.so" --drawing "$work/pong.so"
sed 's/"pong"/"ping"/' "$root/examples/pong/drawing.c" >"$work/other.c"
cp "$root/examples/pong/pong.h" "$work"
check "another game's drawing builds" plugin other "$work/other.c"
check "another game's drawing is named" refused 1 "it draws the game 'ping', not 'pong'" \
    --connect "127.0.0.1:$port" --frames 1 --game "$work/pong.so" --drawing "$work/other.so"
kill -TERM "$pong"
finish "$pong"
# configures OPTIONS...: as the README does, without building. Says whether the window would be built.
configures() {
    (cd "$root" && cmake --preset release -B "$work/build" -DHC_TESTS=OFF >"$work/configured.log" 2>&1) &&
        grep -q 'build bin/hindcast-view' "$work/build/build.ninja"
}
mkdir "$work/modules"
for directory in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    [ ! -d "$directory" ] || find "$directory" -name '*.pc' ! -name 'sdl2.pc' ! -name 'libpng*.pc' \
        -exec ln -sf {} "$work/modules" \;
done
without_sdl() {
    ! PKG_CONFIG_LIBDIR=$work/modules configures && grep -q 'hindcast-view needs SDL 2' "$work/configured.log"
}
check "without SDL there is no window" without_sdl
check "the README's command builds it once SDL is there" configures
check "it starts a server of its own" sh -c \
    "'$bin/hindcast-view' --spawn --frames 5 | grep -q '^others may join: '"
end
