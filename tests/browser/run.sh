#!/bin/sh
# Tests pages in a real browser:  sh tests/browser/run.sh
#
# Installs playwright-core in build/browser; the browser is Debian's (sh deploy/install.sh browser). Pictures
# for a look are in build/browser.
# Exit status 0: all hold; 1: some do not; 77: the browser, or what builds the page, is missing.
set -eu
cd "$(dirname "$0")/../.."
playwright=1.65.1

command -v chromium >/dev/null || { echo "chromium is missing: sh deploy/install.sh browser" && exit 77; }
[ -f build/wasm/web/storm.html ] || sh tests/web/run.sh
mkdir -p build/browser
[ -d build/browser/node_modules/playwright-core ] ||
    npm install --prefix build/browser --no-save --no-audit --no-fund --silent playwright-core@$playwright
log=build/browser/browser.log
node --test tests/browser/ >$log 2>&1 || { cat $log && exit 1; }
grep -E '^# (pass|fail|duration_ms)' $log
