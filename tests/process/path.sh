#!/bin/sh
# A forged "fragmentation needed" changes nothing. The handshake fails on a path that does not carry
# 1200 bytes in either direction, and the failure names the path.
set -u
HC_LIMIT=90

. "$(dirname "$0")/space.inc"
. "$(dirname "$0")/lib.inc"

# carries TO BYTES: sets the longest packet on the way to that end; 0: the device's own limit.
carries() {
    case $1 in
    client) ip route replace 10.0.1.0/24 dev client src 10.0.1.1 $([ "$2" = 0 ] || echo mtu lock "$2") ;;
    server) ip route replace 10.0.2.0/24 dev server src 10.0.2.1 $([ "$2" = 0 ] || echo mtu lock "$2") ;;
    esac
    for inside in "$client" "$server"; do
        $inside ip route flush cache
    done
}

# play NAME ARGUMENTS...: bots at the client's end; sets $pid.
play() {
    name=$1
    shift
    "$programs/hindcastd" token --key-file "$work/keys" --life 3600 --count 16 >"$work/$name.tokens"
    bin=$work/client
    start "$name" hindcast-bot --connect 10.0.2.2:7777 --token "$work/$name.tokens" "$@"
}

space client 1 2>"$work/space.err" && space server 2 2>>"$work/space.err" &&
    echo 1 >/proc/sys/net/ipv4/ip_forward 2>>"$work/space.err" || {
    cat "$work/space.err"
    skip "the namespaces cannot be connected"
}
programs=$bin
"$programs/hindcastd" key --key-file "$work/keys"
bin=$work/server
start hindcastd hindcastd --verdict --bind 0.0.0.0 --port 7777 --key-file "$work/keys" --max-clients 32 \
    --connects-per-address 0 --clients-per-address 0 --seed 1
hindcastd=$pid
waited=0
while ! grep -qs listening "$work/hindcastd.out" && [ $waited -lt 100 ]; do
    sleep 0.05
    waited=$((waited + 1))
done

# The router forges a message for each port, as any host that knows the two addresses could.
play players --count 16 --duration 6
players=$pid
waited=0
while [ "$(grep -c " joined " "$work/hindcastd.err")" -lt 16 ] && [ $waited -lt 100 ]; do
    sleep 0.05
    waited=$((waited + 1))
done
check "16 bots play" test "$(grep -c " joined " "$work/hindcastd.err")" = 16
ports=$(sed -n 's/.* joined .*address=10\.0\.1\.2:\([0-9]*\).*/\1/p' "$work/hindcastd.err")
python3 "$here/forge.py" 10.0.2.2:7777 10.0.1.2 $ports
play newcomers --count 8 --duration 2
finish "$pid"
check "after a forged ICMP new clients of the same address are admitted" report newcomers \
    'c["accepted"] == 8 and c["left"] == 8 and c["snapshots"] >= 0.5 * 8 * r["ticks"]'
finish "$players"
check "playing clients are sent every snapshot" report players \
    'c["left"] == 16 and c["snapshots"] >= 0.5 * 16 * r["ticks"] and r["ticks"] > 100'
check "although both systems have stored the forged limit in their routes" sh -c \
    "$client ip route get 10.0.2.2 | grep -q ' mtu ' && $server ip route get 10.0.1.2 | grep -q ' mtu '"

for to in client server; do
    carries $to 1000
    play "to_$to" --count 1 --duration 3
    finish "$pid"
    carries $to 0
    check "no client is admitted over a path that carries 1000 bytes to the $to" \
        report "to_$to" "$status == 1 and c['accepted'] == 0 and c['timeouts'] == 1"
done
check "to the client: the bot says that long datagrams do not arrive" \
    grep -q "or the path from it carries less than 1200 bytes" "$work/to_client.err"
check "to the server: the bot prints the report of the router" \
    grep -q "by 10.0.2.2:7777: .*of 1200 bytes were refused as too long" \
    "$work/to_server.err"
$client ip link set eth0 mtu 1000
play device --count 1 --duration 3
finish "$pid"
$client ip link set eth0 mtu 1500
check "a device that carries 1000 bytes: the bot counts the refused datagrams" \
    grep -q "no answer: [0-9]* datagrams.*too long" "$work/device.err"
play again --count 1 --duration 2
finish "$pid"
check "when the path carries 1200 bytes again, the bot plays" report again 'c["left"] == 1'

kill -TERM "$hindcastd"
finish "$hindcastd"
check "the server ends with a good verdict" good hindcastd
play nobody --count 1 --duration 1
finish "$pid"
check "without a server: the bot says that no program listens there" \
    grep -q "by 10.0.2.2:7777: no program listens there: [0-9]* datagrams were refused" "$work/nobody.err"
check "the kernel refused no datagram of the server" report hindcastd 's["send_errors"] == 0'
end
