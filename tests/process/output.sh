#!/bin/sh
# A report that cannot be written is no success, and the cause is named; standard files that are closed are not
# taken by sockets.  output.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

# fails PATTERN COMMAND...: exit status 1, and a line on standard error that matches.
fails() {
    pattern=$1
    shift
    status=0
    "$@" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 1 ] && grep -qe "$pattern" "$work/err"
}
daemon() {
    "$bin/hindcastd" --dev --bind 127.0.0.1 --port 0 --ticks 5 "$@"
}
full_out() {
    "$@" >/dev/full
}
load() {
    "$bin/hindcast-load" --spawn --clients 1 --duration 1 "$@"
}
full=": No space left on device$"
check "a full standard output fails the daemon" fails "^hindcastd: standard output cannot be written$full" full_out daemon
check "a full standard output fails the load test" fails "^hindcast-load: standard output cannot be written$full" full_out load
check "a full file fails the daemon" fails "^hindcastd: --json '/dev/full': cannot be written$full" daemon --json /dev/full
check "a full file fails the load test" fails "^hindcast-load: --json '/dev/full': cannot be written$full" load --json /dev/full
check "a path without its directory is named with its cause" \
    fails "^hindcastd: --json '$work/none/x': cannot be written: No such file or directory$" daemon --json "$work/none/x"
check "so does a page" \
    fails "^hindcast-load: --report '$work/none/x': cannot be written: No such file or directory$" load --report "$work/none/x"

# Descriptors 0 to 2 of a daemon that is started without them.
"$bin/hindcastd" --dev --bind 127.0.0.1 --port 0 --ticks 60 --json "$work/closed.json" <&- >&- 2>&- &
closed=$!
running="$running $closed"
are_null() {
    for descriptor in 0 1 2; do
        [ "$(readlink "/proc/$closed/fd/$descriptor")" = /dev/null ] || return 1
    done
}
check "closed standard files are opened on /dev/null" await are_null
finish "$closed"
check "the daemon writes its report" report closed 'r["ticks"] >= 60'
end
