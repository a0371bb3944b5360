#!/bin/sh
# The units of deploy/systemd are accepted by systemd's own tools, and hardened; a server starts by the first datagram
# to a socket of systemd's.
set -u
. "$(dirname "$0")/lib.inc"

if ! command -v systemd-analyze >/dev/null || ! command -v systemd-socket-activate >/dev/null; then
    echo "SKIP: this machine has no systemd-analyze, systemd-socket-activate"
    exit 77
fi
units=$here/../../deploy/systemd
mkdir "$work/units"
for unit in "$units"/*.service "$units"/*.socket; do
    sed "s,/usr/bin/hindcastd,$bin/hindcastd," "$unit" >"$work/units/${unit##*/}"
done

# accepted UNIT: systemd has no complaint, not even a warning.
accepted() {
    SYSTEMD_UNIT_PATH="$work/units:" systemd-analyze verify --man=no "$1" >"$work/verify" 2>&1
    accepts=$?
    cat "$work/verify"
    [ "$accepts" -eq 0 ] && [ ! -s "$work/verify" ]
}
for unit in hindcastd.service hindcastd@arena.service hindcastd.socket hindcastd@arena.socket; do
    check "systemd accepts $unit" accepted $unit
done
for unit in hindcastd.service hindcastd@.service; do
    check "the exposure of $unit is at most 1.5" \
        systemd-analyze security --offline=true --no-pager --threshold=15 "$units/$unit"
done
check "the units for one server and for several differ in their names alone" test "$(
    sed 's,hindcastd\.conf,%i.conf,; s,^\(Runtime\|State\|Logs\)Directory=hindcast,&/%i,; s,^Description=.*,& %i,; /^#/d' \
        "$units/hindcastd.service"
)" = "$(sed '/^#/d' "$units/hindcastd@.service")"
if command -v systemd-sysusers >/dev/null; then
    mkdir -p "$work/root/etc"
    check "systemd accepts the user" systemd-sysusers --root="$work/root" "$units/hindcast.sysusers"
    check "the user has its folder, and no shell" \
        grep -q "^hindcast:.*:/var/lib/hindcast:/usr/sbin/nologin$" "$work/root/etc/passwd"
    check "systemd accepts the folders" systemd-tmpfiles --create --root="$work/root" "$units/hindcast.tmpfiles"
    check "the folder of the settings is closed to others" test "$(stat -c %a "$work/root/etc/hindcast")" = 750
fi

make_tokens 1
listens() {
    port=$(sed -n 's/^Listening on 127\.0\.0\.1:\([0-9]*\) as 3\.$/\1/p' "$work/activate.err")
    [ -n "$port" ]
}
cat >"$work/free.py" <<'PYTHON'
import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])
PYTHON
# The tool does not print the port that 0 takes.
for try in 1 2 3 4 5 6 7 8; do
    at=$(python3 "$work/free.py")
    systemd-socket-activate --datagram --listen "127.0.0.1:$at" --fdname game "$bin/hindcastd" --key-file "$work/keys" \
        >"$work/activate.out" 2>"$work/activate.err" &
    server=$!
    running="$running $server"
    ended_or_listens() {
        listens || ! kill -0 "$server" 2>/dev/null
    }
    await ended_or_listens
    ! listens || break
done
check "systemd-socket-activate listens" listens
start bot hindcast-bot --connect "127.0.0.1:$port" --token "$work/tokens" --duration 1
finish "$pid"
check "a bot plays at a server that its first datagram has started" report bot \
    "c['hash_checks'] > 0 and c['hash_mismatches'] == 0 and r['clients'] == 1"
kill -TERM "$server"
finish "$server"
check "the server ends with status 0" test "$status" -eq 0
end
