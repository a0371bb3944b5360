#!/bin/sh
# A disk that is full when the log is written and a user is banned: the players notice nothing, the answer says why,
# and when there is room again no line and no ban is lost.
set -u
if [ "${HC_DISK-}" != "$0" ]; then
    spaces=-rm
    [ "$(id -u)" != 0 ] || spaces=-m
    unshare $spaces true 2>/dev/null || {
        echo "SKIPPED $0: no mount namespace can be made here"
        exit 77
    }
    HC_DISK=$0 exec unshare $spaces sh "$0" "$@"
fi
. "$(dirname "$0")/lib.inc"

disk=$work/disk
mkdir "$disk"
mount -t tmpfs -o size=64k none "$disk" || exit 1
clean_disk() {
    umount -l "$disk"
    clean
}
trap clean_disk EXIT
make_tokens 8
printf '# mine\n99\n' >"$disk/refused"
cp "$disk/refused" "$work/before"
serve_with server --key-file "$work/keys" --port 0 --refused "$disk/refused" --log-file "$disk/log" \
    --admin "unix:$work/admin.sock" --max-clients 8
server=$pid
ctl() {
    "$bin/hindcastctl" --admin "unix:$work/admin.sock" "$@" >"$work/ctl" 2>&1
}
# play NAME FROM TO: bots with these tokens play for two seconds.
play() {
    sed -n "$2,$3p" "$work/tokens" >"$work/$1.tokens"
    start "$1" hindcast-bot --connect "127.0.0.1:$port" --token "$work/$1.tokens" --count "$(($3 - $2 + 1))" --duration 2
}
play first 1 2
first=$pid
check "two users play" await shows "$disk/log" " joined " 2
cat /dev/zero >"$disk/fill" 2>/dev/null
cat /dev/zero >>"$disk/log" 2>/dev/null # to the end of its last page
truncated=$(wc -c <"$disk/log")
play second 3 6
second=$pid
check "a ban is refused, and the answer says why" sh -c \
    "! '$bin/hindcastctl' --admin 'unix:$work/admin.sock' ban 7 2>'$work/ctl' && grep -q 'cannot be replaced: No space left on device' '$work/ctl'"
check "the file is as before" cmp "$disk/refused" "$work/before"
finish "$second"
check "four users play on a full disk" good second
finish "$first"
check "so do those who played before" good first
check "no line was written meanwhile" test "$(wc -c <"$disk/log")" = "$truncated"
rm "$disk/fill"
check "with room again the log goes on" await sh -c "tr -d '\\0' <'$disk/log' | grep -q ' ban-failed '"
check "a ban is written" ctl ban 7
check "beside those before" sh -c "printf '# mine\n99\n7\n' | cmp - '$disk/refused'"
kill -TERM "$server"
finish "$server"
lines() { tr -d '\0' <"$disk/log"; }
check "no line is lost" sh -c "tr -d '\\0' <'$disk/log' >'$work/lines'; cat '$work/lines'; test \"\$(grep -c ' joined ' '$work/lines')\" = 6"
check "nor cut" sh -c "! grep -v '^20[0-9-]*T[0-9:.]*Z ' '$work/lines'"

# A device that takes nothing ever.
serve endless --log-file /dev/full
endless=$pid
start player hindcast-bot --connect "127.0.0.1:$port" --duration 2
finish "$pid"
check "a user plays while nothing of the log can be written" good player
kill -TERM "$endless"
finish "$endless"
check "the server ends all the same" test "$status" -le 1
end
