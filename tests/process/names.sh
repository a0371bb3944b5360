#!/bin/sh
# A name with several addresses: the clients find the one at which the server answers.
set -u
HC_LIMIT=300

# skip WHY: ends the test, which cannot run here.
skip() {
    echo "SKIPPED $0: $1"
    exit 77
}
# Runs with a file of names of its own.
if [ "${HC_SPACE-}" != "$0" ]; then
    spaces=-rm
    [ "$(id -u)" != 0 ] || spaces=-m
    unshare $spaces true 2>/dev/null || skip "no mount namespace can be made here"
    HC_SPACE=$0 exec unshare $spaces sh "$0" "$@"
fi
. "$(dirname "$0")/lib.inc"

printf '127.0.0.1 localhost\n::1 dual.test\n127.0.0.7 dual.test\n127.0.0.1 dual.test\n' >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts || skip "no file can be mounted here"
[ "$(getent ahosts dual.test | grep -c DGRAM)" -ge 2 ] || skip "/etc/hosts is not asked for names"

for address in 127.0.0.1 127.0.0.7 ::1; do
    start "$address" hindcastd --dev --bind "$address" --port 0
    server=$pid
    listens() {
        port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/$address.out")
        [ -n "$port" ] || ! kill -0 "$server"
    }
    await listens
    if [ -z "$port" ]; then
        echo "SKIPPED a server on $address: it cannot listen there"
        finish "$server"
        continue
    fi
    start "load$address" hindcast-load --connect "dual.test:$port" --clients 2 --light 2 --duration 3
    finish "$pid"
    check "hindcast-load finds a server on $address, and asks it for tokens" report "load$address" \
        'c["accepted"] == c["left"] == 4'
    if [ -x "$bin/hindcast-view" ]; then
        check "so does hindcast-view" "$bin/hindcast-view" --connect "dual.test:$port" --frames 5
    fi
    kill -TERM "$server"
    finish "$server"
done

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null 2>&1
"$bin/hindcastd" token --key-file "$work/keys" --life 600 >"$work/token"
start nobody hindcast-bot --connect dual.test:9 --token "$work/token" --duration 2
finish "$pid"
check "without a server hindcast-bot exits with 1" test "$status" = 1
check "and names the addresses" \
    grep -q "no server answers within 2 s at its addresses .*127.0.0.[17], .*127.0.0.[17]" "$work/nobody.err"
end
