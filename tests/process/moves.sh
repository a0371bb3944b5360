#!/bin/sh
# Clients play on when their own machine gets another address, without a moment in which it has both, and
# after a while in which it has none.
set -u
HC_LIMIT=300
. "$(dirname "$0")/space.inc"
. "$(dirname "$0")/lib.inc"

space client 1 2>"$work/space.err" || {
    cat "$work/space.err"
    skip "the namespaces cannot be connected"
}
root=$(cd "$here/../.." && pwd)
programs=$bin
"$bin/hindcastd" key --key-file "$work/keys"
start hindcastd hindcastd --bind 10.0.1.1 --port 7777 --key-file "$work/keys" --connects-per-address 0 \
    --clients-per-address 0 --status-every 1 --seed 1
hindcastd=$pid
check "the server listens" await shows "$work/hindcastd.out" "^listening" 1

# play NAME PROGRAM COUNT ARGUMENTS...: clients at the other end; sets $pid.
play() {
    name=$1 program=$2
    "$programs/hindcastd" token --key-file "$work/keys" --life 3600 --count "$3" >"$work/$name.tokens"
    shift 3
    bin=$work/client
    start "$name" "$program" --connect 10.0.1.1:7777 --token "$work/$name.tokens" "$@"
    bin=$programs
}

# The README's client, towards the server's address.
mkdir "$work/reader"
sed -n '/^```c$/,/^```$/{/^```/!p}' "$root/README.md" |
    sed 's/htonl(INADDR_LOOPBACK)/htonl(0x0a000101)/' >"$work/reader/client.c"
cmake --install "$programs/.." --prefix "$work/prefix" >"$work/install.log" 2>&1
packages=$(dirname "$(find "$work/prefix" -name hindcast.pc)")
builds() {
    cc -std=gnu17 -o "$work/reader/client" "$work/reader/client.c" \
        $(PKG_CONFIG_LIBDIR=$packages pkg-config --cflags --libs hindcast) "-Wl,-rpath,${packages%/pkgconfig}"
}
check "the README's client builds" builds
play bots hindcast-bot 4 --count 4
bots=$pid
play light hindcast-load 3 --clients 0 --light 3 --processes 1 --duration 1000
light=$pid
token=$("$programs/hindcastd" token --key-file "$work/keys" --life 3600)
$client "$work/reader/client" 7777 "$token" >"$work/reader/out" 2>&1 &
reader=$!
running="$running $reader"
check "8 clients play" await grep -q "status .*clients=8 " "$work/hindcastd.err"

# moved COUNT: the server has seen that many moves.
moved() {
    kill -USR1 "$hindcastd"
    sleep 0.5
    now=$(sed -n 's/^ *connections .* \([0-9]*\) changed their address$/\1/p' "$work/hindcastd.err" | tail -1)
    [ "${now:-0}" -ge "$1" ]
}
$client ip address del 10.0.1.2/24 dev eth0
$client ip address add 10.0.1.3/24 dev eth0
check "the server sees all of them at the new address" await moved 8
$client ip address del 10.0.1.3/24 dev eth0
sleep 1.5
$client ip address add 10.0.1.4/24 dev eth0
check "and at the next one, after a while without any" await moved 16

kill -TERM "$bots" "$light" "$reader"
finish "$bots"
check "the bots have lost no connection" report bots 'c["left"] == 4 and c["connections_lost"] == 0'
finish "$light"
check "the light clients have lost no connection" report light 'c["left"] == 3 and c["connections_lost"] == 0'
finish "$reader"
kill -TERM "$hindcastd"
finish "$hindcastd"
check "the server neither" report hindcastd \
    's["connections_lost"] == 0 and s["timeouts"] == 0 and s["connections_moved"] >= 16'
end
