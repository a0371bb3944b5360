#!/bin/sh
# A hanging file system stops no tick while SIGHUP reads --key-file and --refused again. Each file takes
# effect when it is read, independent of the other.
set -u
. "$(dirname "$0")/lib.inc"

keys=$work/keys refused=$work/refused
cc -std=c17 -shared -fPIC -o "$work/hang.so" "$here/hang.c" || exit 1
"$bin/hindcastd" key --key-file "$keys" >"$work/out"
"$bin/hindcastd" token --key-file "$keys" --count 3 --client-id 7 >"$work/tokens"
: >"$refused"
export LD_PRELOAD="$work/hang.so"
serve_with server --key-file "$keys" --port 0 --refused "$refused" --log-format json
unset LD_PRELOAD
server=$pid
start players hindcast-bot --connect "127.0.0.1:$port" --count 3 --token "$work/tokens"
players=$pid
logged() {
    shows "$work/server.err" "\"$1\"" "$2"
}
check "three users play" await logged joined 3

# Checks that ticks go on: later reports of the server show more of them.
ticks_go_on() {
    before=$(wc -l <"$work/server.err")
    more() {
        kill -USR1 "$server"
        ticks=$(sed -n "1,$before d; s/.*\"tick_rate_hz\": *[0-9]*, *\"ticks\": *\([0-9]*\).*/\1/p" "$work/server.err")
        first=$(echo "$ticks" | head -n 1) last=$(echo "$ticks" | tail -n 1)
        [ "${last:-0}" -ge $((${first:-0} + 60)) ]
    }
    await more
}
# hang FILE: SIGHUP makes the server read its files again, and reading FILE hangs.
hang() {
    : >"$1.hangs"
    kill -HUP "$server"
}

echo 7 >"$refused"
hang "$keys"
check "ticks go on while reading the keys hangs" ticks_go_on
check "the refused users are read" await logged refused-read 1
check "one of them is refused and closed" await logged left 1
check "the log says that the keys are slow" await logged keys-slow 1
check "the keys are not read yet" sh -c "! grep -q '\"keys-read\"' '$work/server.err'"
rm "$keys.hangs"
check "the keys take effect when they are read" await logged keys-read 1

echo 8 >>"$refused"
hang "$refused"
check "ticks go on while reading the refused users hangs" ticks_go_on
check "the keys are read" await logged keys-read 2
check "the log says that the refused users are slow" await logged refused-slow 1
check "no other user is closed" sh -c "! grep '\"left\"' '$work/server.err' | grep -q '\"user\": *\"8\"'"
rm "$refused.hangs"
check "the refused users take effect when they are read" await logged refused-read 2
check "the next user is closed" await logged left 2

hang "$keys"
hang "$refused"
check "ticks go on while both hang" ticks_go_on
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict" good server
finish "$players"
check "no client had to reconnect" report players 'c["reconnects"] == 0'
end
