#!/bin/sh
# docs/TUTORIAL.md works to the letter: its C blocks are examples/pong, and its commands build, check, serve,
# play and load test it with an installed Hindcast.  tutorial.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

page=$here/../../docs/TUTORIAL.md
example=$here/../../examples/pong
# block LANGUAGE NUMBER: the block of that number, from 1, in a language.
block() {
    awk -v open="\`\`\`$1" -v wanted="$2" '
        $0 == "```" { inside = 0 }
        inside { print }
        $0 == open && ++count == wanted { inside = 1 }' "$page"
}
blocks() {
    grep -c "^\`\`\`$1\$" "$page"
}

check "cmake --install works" cmake --install "$bin/.." --prefix "$work/prefix"
[ "$failed" -eq 0 ] || end
bin=$work/prefix/bin
PATH=$bin:$PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name hindcast.pc)")
export PATH PKG_CONFIG_PATH
mkdir "$work/empty"
cd "$work/empty" || exit 1

block c 1 >pong.h
number=2
while [ "$number" -lt "$(blocks c)" ]; do
    [ "$number" -eq 2 ] || echo >>pong.c
    block c "$number" >>pong.c
    number=$((number + 1))
done
check "the page's header is that of examples/pong" diff pong.h "$example/pong.h"
block c "$number" >drawing.c
check "the page's last block is its drawing" diff drawing.c "$example/drawing.c"
check "the page's other blocks are examples/pong" diff pong.c "$example/pong.c"
check "the page has nine blocks of commands" test "$(blocks sh)" -eq 9

# runs NUMBER: the commands of that block.
runs() {
    block sh "$1" >"commands$1"
    sed -i "s/127\.0\.0\.1:40000/127.0.0.1:${port-}/; s/^hindcast-view/& --frames 20/" "commands$1"
    sh -e "commands$1" >"out$1" 2>&1
    status=$?
    cat "out$1"
    return "$status"
}
check "it compiles" runs 1
check "it is checked" runs 2
check "no fault is found" grep -q '^OK: no fault' out2
check "a mistake is found" runs 3
check "the mistake is floating point" sh -c 'head -n 1 out3 | grep -q "^float: the function "'

check "two builds are compared" runs 4
check "they are equal" grep -q '^OK: no fault: game pong in two builds, ' out4

block sh 5 >commands5
check "the server's command is the one that is tested" test "$(cat commands5)" = "hindcastd --dev --game pong.so"
serve server --game pong.so
server=$pid
# plays NUMBER: the verdict is OK, or NOT OK only because of a busy machine; all hashes match.
plays() {
    runs "$1" || grep -q '^NOT OK: .*\(late\|tick\)' "out$1" || return 1
    grep -q ' checked, 0 did not match' "out$1"
}
check "bots play" plays 6
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict" good server
check "the drawing compiles" runs 7
check "it is drawn" runs 8
check "the load test plays" plays 9
end
