#!/bin/sh
# The log in a file that is renamed while the server runs, and priorities for the journal.
set -u
. "$(dirname "$0")/lib.inc"

log=$work/hindcastd.log
# joins N: N bots come and go; their joins are in the log.
joins() {
    start bots hindcast-bot --connect "127.0.0.1:$port" --count "$1" --duration 1
    finish "$pid"
}
serve server --log-file "$log"
server=$pid
check "the log is in the file" await grep -q "info  started" "$log"
check "and not on standard error" sh -c "! grep -q started '$work/server.err'"
for round in 1 2 3; do
    joins 3
    mv "$log" "$log.$round"
    kill -HUP "$server"
    check "the file is opened again, round $round" await grep -q "info  log-reopened" "$log"
done
joins 2

kill -TERM "$server"
finish "$server"
check "every join is in one of the files" test "$(cat "$log" "$log".? | grep -c ' joined ')" = 11
check "the last lines are too" grep -q "info  stopping reason=SIGTERM" "$log"
check "no line is cut" sh -c "! cat '$log' '$log'.? | grep -v '^20[0-9-]*T[0-9:.]*Z '"
check "a log file that cannot be opened ends the start" \
    sh -c "\"$bin/hindcastd\" --dev --port 0 --log-file '$work/no/log' 2>'$work/err'; test \$? = 1 &&
        grep -q -e \"--log-file '$work/no/log': No such file\" '$work/err'"


# Paths that would hang.
mkfifo "$work/pipe"
# ends PATTERN PATH: a server with this log file does not start, and says why.
ends() {
    status=0
    timeout 60 "$bin/hindcastd" --dev --port 0 --log-file "$2" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 1 ] && grep -q -e "--log-file '$2': $1" "$work/err"
}
check "a pipe that nobody reads ends the start" ends "is a pipe or a device that nobody reads" "$work/pipe"
cc -std=c17 -shared -fPIC -o "$work/hang.so" "$here/hang.c" || exit 1
: >"$work/far.hangs"
export LD_PRELOAD="$work/hang.so"
check "so does a file system that hangs" ends "has not opened after 3 s" "$work/far"
unset LD_PRELOAD

# A configuration moves the log from standard error to a file, to another one, and back.
echo "" >"$work/config"
serve moved --config "$work/config"
server=$pid
# move_to LINE: the configuration has this line from now on.
move_to() {
    echo "$1" >"$work/config.new"
    mv "$work/config.new" "$work/config"
    kill -HUP "$server"
}
move_to "log-file = $work/first.log"
check "the log moves to a file" await grep -q "info  config-read" "$work/first.log"
move_to "log-file = $work/second.log"
check "to another file" await grep -q "info  log-reopened" "$work/second.log"
move_to "log-file = $work/no/third.log"
check "a file that cannot be opened leaves it where it is" await grep -q "error log-file-refused" "$work/second.log"
move_to "log-file = $work/pipe"
check "so does a pipe that nobody reads" await grep -q "error log-file-refused .*nobody reads" "$work/second.log"
move_to ""
check "and back to standard error" await grep -q "info  config-read" "$work/moved.err"
kill -TERM "$server"
finish "$server"
check "where it ends" grep -q "info  stopping" "$work/moved.err"

# A file that cannot be opened leaves the log on standard error until it can be, or is taken out.
echo "" >"$work/config"
serve repaired --config "$work/config"
server=$pid
move_to "log-file = $work/later/log"
check "a first file that cannot be opened is named on standard error" \
    await grep -q "error log-file-refused" "$work/repaired.err"
mkdir "$work/later"
kill -HUP "$server"
check "the next reload opens it" await grep -q "info  config-read" "$work/later/log"
kill -TERM "$server"
finish "$server"
check "where the log ends" grep -q "info  stopping" "$work/later/log"
echo "" >"$work/config"
serve removed --config "$work/config"
server=$pid
move_to "log-file = $work/no/log"
check "it is named again" await grep -q "error log-file-refused" "$work/removed.err"
move_to ""
check "the file may be taken out instead" await shows "$work/removed.err" "info  config-read" 2
kill -TERM "$server"
finish "$server"
check "and the log ends on standard error" grep -q "info  stopping" "$work/removed.err"

# Under systemd standard error is the journal's, and $JOURNAL_STREAM has its device and inode.
: >"$work/journal.err"
JOURNAL_STREAM=$(stat -c %d:%i "$work/journal.err")
export JOURNAL_STREAM
serve journal --log-format json
unset JOURNAL_STREAM
kill -TERM "$pid"
finish "$pid"
check "lines for the journal begin with their priority" grep -q '^<6>{.*"event":"stopping"' "$work/journal.err"
end
