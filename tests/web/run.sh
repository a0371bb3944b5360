#!/bin/sh
# Builds the preset `wasm`, shows in Node that it computes what the release computes, and tests the library
# for pages, whose files must stay small.
#
# Exit status 0: it does; 1: it does not; 77: the packages of `sh deploy/install.sh web` are missing.
set -eu
cd "$(dirname "$0")/../.."
jobs=$(nproc 2>/dev/null || echo 2)
programs="hc_timelines hc_matches"

for wanted in node clang-14 wasm-ld; do
    command -v $wanted >/dev/null || { echo "$wanted is missing: sh deploy/install.sh web" && exit 77; }
done
[ -d /usr/include/wasm32-wasi ] || { echo "wasi-libc is missing: sh deploy/install.sh web" && exit 77; }

mkdir -p build/web
for preset in release wasm; do
    log=build/web/build-$preset.log targets=$programs
    [ $preset = release ] || targets=all
    # shellcheck disable=SC2086 # a list of words
    {
        cmake --preset $preset -DHC_TESTS=ON && cmake --build --preset $preset -j "$jobs" --target $targets
    } >"$log" 2>&1 || { grep -v "^\[.*\] \(Building\|Linking\)" "$log" && exit 1; }
done

# same PROGRAM: it prints the same in Node as here, byte for byte.
same() {
    build/release/bin/"$1" >"build/web/$1.here"
    node tests/web/command.mjs "build/wasm/bin/$1" >"build/web/$1.wasm"
    cmp "build/web/$1.here" "build/web/$1.wasm"
    echo "$1: $(wc -l <"build/web/$1.here") lines are the same"
}

for program in $programs; do
    same "$program"
done

node --test tests/web/ >build/web/library.log 2>&1 || { cat build/web/library.log && exit 1; }
grep -E '^# (pass|fail)' build/web/library.log

# small FILE BYTES: it has at most so many when it is compressed.
small() {
    size=$(gzip -9 -c "build/wasm/web/$1" | wc -c)
    echo "$1: $size bytes by gzip, at most $2"
    [ "$size" -le "$2" ]
}

small hindcast.wasm 110000
small hindcast-match.wasm 170000
small hindcast.js 20000
small storm.html 220000
for game in pong duel; do
    small $game.wasm 6000
done

# page FILE: a page without its modules, which each change of C changes.
page() {
    sed 's/^\(<script type="application.octet-stream"[^>]*>\).*/\1/' "$1"
}
page docs/storm.html >build/web/storm.docs
page build/wasm/web/storm.html >build/web/storm.built
cmp build/web/storm.docs build/web/storm.built || {
    echo "docs/storm.html is not what web/ makes: sh web/page.sh docs/storm.html"
    exit 1
}
sh web/page.sh build/web/own.html examples/duel/duel.c examples/duel/drawing.c examples/duel/duel.txt
grep -c 'data-game="duel"' build/web/own.html >/dev/null
