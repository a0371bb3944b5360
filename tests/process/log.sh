#!/bin/sh
# Neither an unread log nor a flood of log lines stops the server, and the log is bounded.
set -u
. "$(dirname "$0")/lib.inc"

# The Python that has the distribution's packages.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
for case in unread closed read; do
    "$python" "$here/log.py" "$bin" "$work" $case || failed=1
done
end
