#!/bin/sh
# Neither an unread log nor a flood of log lines stops the server, and the log is bounded. Inputs without effect have
# a line.
set -u
. "$(dirname "$0")/lib.inc"

# The Python that has the distribution's packages.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
for case in unread closed read; do
    "$python" "$here/log.py" "$bin" "$work" $case || failed=1
done

# Inputs are 4 ticks late or more, and 2 ticks are remembered.
serve late --history 2 --late-margin 2
late=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 2 --link bad --timing rewind
bots=$pid
check "the log says that inputs were refused" await grep -q \
    "warn  inputs-refused count=[1-9][0-9]* refused=[1-9][0-9]* lost=[0-9]* late=[1-9][0-9]* ahead=[0-9]* why=" "$work/late.err"
kill -TERM "$late"
finish "$late"
check "as many as the report counts, and more" report late 'inputs["refused"] > 0'
finish "$bots"
end
