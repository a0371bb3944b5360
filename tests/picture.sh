#!/bin/sh
# Takes the README's picture: bots over a good link and over a bad one, in an arena with NPCs.
#
#     sh tests/picture.sh [DIRECTORY_OF_PROGRAMS [FILE]]    (default: build/release/bin docs/view.png)
set -eu
cd "$(dirname "$0")/.."
bin=${1:-build/release/bin} file=${2:-docs/view.png}
out=$(mktemp)
"$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 --max-clients 16 --npcs 14 >"$out" 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || :; rm "$out"' EXIT
until port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$out") && [ -n "$port" ]; do
    kill -0 "$server" # it ends if it cannot listen
    sleep 0.1
done
"$bin/hindcast-view" --connect "127.0.0.1:$port" --split --bot --overlay --link good --right-link bad \
    --frames 240 --screenshot "$file"
