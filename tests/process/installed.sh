#!/bin/sh
# The service of Debian's packages, on a system with systemd: it is installed, played on, changed, restarted, drained,
# upgraded, removed and purged.  installed.sh DIRECTORY_OF_PROGRAMS
#
# HC_ROOT is the root of another system, such as a fresh Debian, in place of this machine's.
set -u
. "$(dirname "$0")/lib.inc"
. "$here/system.inc"

build=$(cd "$bin/.." && pwd)
boot ${HC_ROOT:+"$HC_ROOT"}
named() {
    inside find /etc /usr /var /run -name '*hindcast*' | sort
}
named >"$work/before"
check "cpack makes the packages of the service" \
    cpack -G DEB --config "$build/CPackConfig.cmake" -B "$shared" -D "CPACK_COMPONENTS_ALL=programs;service"
[ "$failed" -eq 0 ] || end
packages=$(cd "$shared" && echo hindcast*.deb)
ls -l "$shared"/*.deb

# state_is STATE, journal PATTERN: the state, and the lines, of the service.
state_is() {
    [ "$(inside systemctl is-active hindcastd.service)" = "$1" ]
}
journal() {
    inside journalctl -q -b -o cat -u hindcastd.service >"$work/journal"
    grep -e "$1" "$work/journal"
}
install_packages() {
    # shellcheck disable=SC2086 # a list of words
    inside sh -c 'cd /mnt && dpkg -i "$@"' dpkg $packages
}
check "the packages are installed" install_packages
[ "$failed" -eq 0 ] || end
check "the service runs" await state_is active
[ "$failed" -eq 0 ] || {
    inside journalctl -q -b -o cat -u hindcastd.service
    end
}
check "it is enabled for the next start" inside systemctl is-enabled hindcastd.service
owns() {
    inside stat -c '%U:%G %a' "$1" >"$work/mode"
    echo "$1" | cat - "$work/mode"
    [ "$(cat "$work/mode")" = "$2" ]
}
check "its user owns what it writes to" owns /var/lib/hindcast hindcast:hindcast\ 755
check "the keys are root's, and its group reads them" owns /etc/hindcast/keys root:hindcast\ 640
check "nobody else enters the folder of the configuration" owns /etc/hindcast root:hindcast\ 750
check "the configuration may be read" owns /etc/hindcast/hindcastd.conf root:root\ 644
check "it runs as its user" inside sh -c 'stat -c %U "/proc/$(systemctl show -P MainPID hindcastd.service)" | grep -x hindcast'
check "the configuration is what hindcastd would take" \
    inside runuser -u hindcast -- hindcastd --config /etc/hindcast/hindcastd.conf --key-file /etc/hindcast/keys --check-config

# Bots with tokens of the service's keys.
playing() {
    inside hindcastctl status >"$work/status.json"
    python3 - "$work/status.json" "$1" <<'PYTHON'
import json, sys
clients = [client for match in json.load(open(sys.argv[1]))["matches"] for client in match["clients"]]
print(clients)
assert sum(client["connected"] for client in clients) == int(sys.argv[2])
PYTHON
}
inside sh -c 'umask 077; hindcastd token --key-file /etc/hindcast/keys --client-id 1 --count 8 --life 600 >/mnt/tokens'
inside hindcast-bot --connect 127.0.0.1:40000 --count 8 --token /mnt/tokens --json /mnt/bots.json >"$work/bots.out" 2>&1 &
bots=$!
check "8 bots play" await playing 8

set_line() {
    inside sed -i "s|^;*$1 =.*|$1 = $2|" /etc/hindcast/hindcastd.conf
}
set_line late-margin 12
check "systemctl reloads the configuration" inside systemctl reload hindcastd.service
[ "$failed" -eq 0 ] || end
check "a change is in force" await journal 'setting-changed key=late-margin before=24 now=12'
set_line late-margin many
inside systemctl reload hindcastd.service
check "a wrong line is refused by its name" await journal "config-fault .*late-margin"
set_line late-margin 12
check "the bots play on" await playing 8
check "a bot is kicked" inside hindcastctl kick 3
check "7 bots are left" await playing 7

first=$(inside systemctl show -P MainPID hindcastd.service)
check "systemctl restarts the service" inside systemctl restart hindcastd.service
check "the bots come back to it" await playing 7
replaced() {
    [ "$(inside systemctl show -P MainPID hindcastd.service)" != "$1" ]
}
check "it is another process" replaced "$first"

second=$(inside systemctl show -P MainPID hindcastd.service)
check "an upgrade keeps the changed configuration" install_packages
check "an upgrade asks nothing" inside grep -x 'late-margin = 12' /etc/hindcast/hindcastd.conf
check "an upgrade restarts the service" replaced "$second"
check "the bots come back after an upgrade" await playing 7

if inside sh -c 'command -v logrotate' >/dev/null; then
    set_line log-file /var/log/hindcast/hindcastd.log
    check "the log goes to a file" inside systemctl reload hindcastd.service
    check "logrotate rotates it" inside logrotate -f /etc/logrotate.d/hindcast-server
    check "the log goes on in another file" \
        await inside sh -c 'cd /var/log/hindcast && test -s hindcastd.log.1 && grep log-reopened hindcastd.log'
    inside sed -i 's|^log-file =.*|;log-file =|' /etc/hindcast/hindcastd.conf
    check "the log goes to the journal again" inside systemctl reload hindcastd.service
fi
check "the service is drained" inside hindcastctl drain 1
check "it ends, and is not started again" await state_is inactive
wait "$bots"
mv "$shared/bots.json" "$work/"
check "7 bots came back each time, and no snapshot was wrong" report bots \
    "c['reconnects'] >= 2 * 7 and c['hash_checks'] > 0 and c['hash_mismatches'] == 0"
check "it starts again" inside systemctl start hindcastd.service

check "the packages are removed" inside dpkg -r hindcast-server hindcast
check "the service has ended" state_is inactive
check "the configuration and the keys are kept" \
    inside sh -c 'test -s /etc/hindcast/keys && grep -x "late-margin = 12" /etc/hindcast/hindcastd.conf'
check "the packages are installed again" install_packages
check "the service runs with the settings that were kept" await state_is active
check "it takes them" await journal "started .*pid=$(inside systemctl show -P MainPID hindcastd.service) .*late_margin_ticks=12 "
inside systemctl enable -q hindcastd.socket hindcastd@other.service
check "the packages are purged" inside dpkg -P hindcast-server hindcast
nothing_is_left() {
    named | diff "$work/before" -
}
check "nothing is left" nothing_is_left

# A chroot, in which nothing starts: systemd runs elsewhere, and its tools for users and folders may be missing.
without_systemd() {
    mkdir "$work/other"
    unshare -m sh -c '. "$1/system.inc"; copy_root "$2" "$3" && mount --bind "$4" "$3/root/mnt" || exit 1
        rm "$3/root/usr/bin/systemd-sysusers" "$3/root/usr/bin/systemd-tmpfiles"
        exec chroot "$3/root" sh -e -c "
            cd /mnt
            dpkg -i $5
            test \"\$(stat -c %U:%G:%a /etc/hindcast/keys /var/lib/hindcast /etc/hindcast | tr \"\n\" \" \")\" = \
                \"root:hindcast:640 hindcast:hindcast:755 root:hindcast:750 \"
            runuser -u hindcast -- hindcastd --config /etc/hindcast/hindcastd.conf --key-file /etc/hindcast/keys --check-config
            dpkg -i $5
            dpkg -P hindcast-server hindcast
            test ! -e /etc/hindcast"' without "$here" "${HC_ROOT:-/}" "$work/other" "$shared" "$packages"
}
check "without systemd all but the start is the same" without_systemd

# With minutes to spare, the same on a fresh Debian.
if [ "${HC_LONG_PLAYS-no}" = yes ] && command -v debootstrap >/dev/null; then
    needs=$(for package in $packages; do
        dpkg-deb -f "$shared/$package" Depends
    done | tr ',' '\n' | sed 's/^ *//; s/[ (|].*//; /^hindcast/d' | tr '\n' ',')
    check "a fresh Debian is made" debootstrap --variant=minbase --include="${needs}systemd-sysv,dbus,logrotate" bookworm "$work/fresh"
    check "all holds there too" env HC_LONG_PLAYS=no HC_ROOT="$work/fresh" sh "$0" "$bin"
fi
end
