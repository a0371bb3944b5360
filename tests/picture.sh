#!/bin/sh
# Takes the pictures of the window: bots over a good link and over a bad one, in an arena with NPCs; the list of keys.
#
#     sh tests/picture.sh [PROGRAMS [FILE KEYS_FILE]]    (default: build/release/bin docs/view.png docs/view_keys.png)
set -eu
cd "$(dirname "$0")/.."
bin=${1:-build/release/bin} file=${2:-docs/view.png} keys=${3:-docs/view_keys.png}
out=$(mktemp)
"$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 --max-clients 16 --npcs 14 >"$out" 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || :; rm "$out"' EXIT
until port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$out") && [ -n "$port" ]; do
    kill -0 "$server" # it ends if it cannot listen
    sleep 0.1
done
"$bin/hindcast-view" --connect "127.0.0.1:$port" --split --bot --overlay --link good --right-link bad \
    --width 1600 --height 700 --frames 280 --screenshot "$file"
"$bin/hindcast-view" --connect "127.0.0.1:$port" --link bad --keys --press F7,F7 --width 960 --height 540 \
    --frames 30 --screenshot "$keys"
