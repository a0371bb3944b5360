#!/bin/sh
# The inspector's page in a real browser, wide and narrow: eight bots play, one more joins, one is kicked from the page,
# and nothing is wrong on its console. Without Chromium and playwright-core (deploy/install.sh browser) it is skipped.
# With HC_PICTURES=FOLDER it stores pictures there.  inspector_page.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
modules=$root/build/browser/node_modules
chromium=$(command -v chromium || :)
if [ -z "$chromium" ] || [ ! -d "$modules/playwright-core" ] || ! command -v node >/dev/null; then
    echo "SKIPPED: there is no browser, see deploy/install.sh browser"
    exit 77
fi

serve server --admin 127.0.0.1:0 --max-clients 16 --seed 3
server=$pid
opened() {
    at=$(sed -n 's/.* admin-open at=\([^ ]*\) .*/\1/p' "$work/server.err")
    [ -n "$at" ]
}
await opened
# The name of the eight is markup, which the page must show as text.
start eight hindcast-bot --connect "127.0.0.1:$port" --count 8 --link bad --timing rewind --name "<i>Bot</i>"
eight=$pid
check "eight bots play" await shows "$work/server.err" " joined " 8

# browse STEP ARGUMENTS...: the checks of a step.
browse() {
    HC_MODULES=$modules HC_CHROMIUM=$chromium node "$here/inspector_page.mjs" "$at" "$@"
}
check "the page is whole at 1280 pixels, dark" browse whole 1280 dark "${HC_PICTURES-}"
check "and at 400, light, without anything that is too wide" browse whole 400 light "${HC_PICTURES-}"
join() {
    until [ -e "$work/wants" ]; do sleep 0.05; done
    exec "$bin/hindcast-bot" --connect "127.0.0.1:$port" --name Ninth >"$work/ninth.out" 2>&1
}
join &
ninth=$!
running="$running $ninth"
check "a client that joins appears, is kicked from the page, and goes" browse kick 1280 dark "$work/wants"
check "the log says so" await grep -q " left .*name=Ninth .*by=server" "$work/server.err"
check "the figures stand still while it pauses" browse pause 1280 dark
check "a page whose server is gone says so" browse gone 1280 dark "$server"
finish "$server"
finish "$eight"
end
