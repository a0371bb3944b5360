#!/bin/sh
# A file system that does not answer stops no tick: neither --key-file nor --refused, which SIGHUP has
# read again. Each counts when it comes, whatever the other does.
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

# Reports that the server is asked for from now on show more and more ticks.
ticks_go_on() {
    before=$(wc -l <"$work/server.err")
    more() {
        kill -USR1 "$server"
        ticks=$(sed -n "1,$before d; s/.*\"tick_rate_hz\".*\"ticks\": *\([0-9]*\).*/\1/p" "$work/server.err")
        first=$(echo "$ticks" | head -n 1) last=$(echo "$ticks" | tail -n 1)
        [ "${last:-0}" -ge $((${first:-0} + 60)) ]
    }
    await more
}
# hang FILE: the server is told to read its files again, and FILE does not answer.
hang() {
    : >"$1.hangs"
    kill -HUP "$server"
}

echo 7 >"$refused"
hang "$keys"
check "ticks go on while the keys are not there" ticks_go_on
check "and the refused users are read" await logged refused-read 1
check "one of them is put out" await logged left 1
check "the log says that the keys are late" await logged keys-slow 1
check "but has not read them" sh -c "! grep -q '\"keys-read\"' '$work/server.err'"
rm "$keys.hangs"
check "they count when they come" await logged keys-read 1

echo 8 >>"$refused"
hang "$refused"
check "ticks go on while the refused users are not there" ticks_go_on
check "and the keys are read" await logged keys-read 2
check "the log says that the refused users are late" await logged refused-slow 1
check "and nobody is put out" sh -c "! grep '\"left\"' '$work/server.err' | grep -q '\"user\": *\"8\"'"
rm "$refused.hangs"
check "they count when they come" await logged refused-read 2
check "the next one is put out" await logged left 2

hang "$keys"
hang "$refused"
check "the server is there while neither answers" ticks_go_on
kill -TERM "$server"
finish "$server"
check "and ends in good order" good server
finish "$players"
check "nobody had to reconnect" report players 'c["reconnects"] == 0'
end
