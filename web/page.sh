#!/bin/sh
# Makes a page on which a server, its clients and their links play, in one file that opens from disk:
#
#     sh web/page.sh PAGE.html                                       with the games of this folder
#     sh web/page.sh PAGE.html GAME.c [DRAWING.c ...] [LEVEL.txt]    with a game of one's own
#
# GAME.c is a game's plugin, DRAWING.c its drawing for hindcast-view: the same files. Files that do not end in .c
# are the game's level, at most one. Needs the packages of `sh deploy/install.sh web`, and Node.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    echo "page.sh: $*" >&2
    exit 2
}

usage="usage: sh web/page.sh PAGE.html [GAME.c [DRAWING.c ...] [LEVEL.txt]]"
case ${1-} in "" | *.c | -*) fail "$usage" ;; esac
out=$1 sources="" level="" name=storm
shift
for file; do
    [ -f "$file" ] || fail "there is no file $file"
    case $file in
    *[\;=]*) fail "$file: a path with ';' or '=' cannot be used" ;;
    /*) path=$file ;;
    *) path=$PWD/$file ;;
    esac
    case $path in
    *.c)
        [ -n "$sources" ] || name=own-$(basename "$path" .c)
        sources="$sources${sources:+;}$path"
        ;;
    *)
        [ -z "$level" ] || fail "a game has one level: $level or $file"
        level=$path
        ;;
    esac
done
[ -n "$sources" ] || [ -z "$level" ] || fail "$level is no C file of a game"

log=$here/build/page.log
mkdir -p "$here/build"
# build: writes build/wasm/web/$name.html.
build() {
    cd "$here"
    cmake --preset wasm -DHC_WEB_GAME="$sources" -DHC_WEB_LEVEL="$level" &&
        cmake --build --preset wasm --target "${name}_page"
}
status=0
(build) >"$log" 2>&1 || status=1
[ "$status" = 0 ] || grep -v "^\[.*\] \(Building\|Linking\)" "$log" >&2
# The game is no part of other builds in that folder.
(cd "$here" && cmake --preset wasm -UHC_WEB_GAME -UHC_WEB_LEVEL) >>"$log" 2>&1 || :
[ "$status" = 0 ] || exit 1
cp "$here/build/wasm/web/$name.html" "$out"
echo "$out: open it in a browser"
