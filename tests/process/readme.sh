#!/bin/sh
# The README's client, as it stands there, compiles and plays.  readme.sh BIN_DIRECTORY
set -eu
bin=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || :; fi; rm -rf "$work"' EXIT

sed -n '/^```c$/,/^```$/{/^```/!p}' "$root/README.md" >"$work/client.c"
# shellcheck disable=SC2046 # a list of flags
cc -std=gnu17 -Wall -Wextra -Werror -I "$root" -I "$root/include" -o "$work/client" "$work/client.c" \
    -L "$bin/.." -Wl,-rpath,"$(cd "$bin/.." && pwd)" -lhindcast \
    $(pkg-config --cflags libsodium)
echo "ok: the README's client compiles against the shared library"

"$bin/hindcastd" key --key-file "$work/keys" >"$work/key.out"
token=$("$bin/hindcastd" token --key-file "$work/keys" --name reader)
"$bin/hindcastd" --key-file "$work/keys" --bind 127.0.0.1 --port 0 --max-clients 2 --ticks 180 >"$work/server.log" 2>&1 &
server=$!
port=
for _ in 1 2 3 4 5 6 7 8 9 10; do
    port=$(sed -n 's/.*listening on .*:\([0-9]*\).*/\1/p' "$work/server.log" | head -n 1)
    [ -z "$port" ] || break
    sleep 0.2
done
timeout 20 "$work/client" "$port" "$token" >"$work/client.log"
wait "$server" || { cat "$work/server.log"; exit 1; }
server=
shown=$(sort -u "$work/client.log" | grep -c '^x = ' || :)
if [ "$shown" -lt 10 ]; then
    echo "FAILED: the README's client was shown at $shown places only"
    exit 1
fi
echo "ok: it played until the server said goodbye, and was shown at $shown places"
