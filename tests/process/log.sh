#!/bin/sh
# Neither a log that nobody reads nor a client that makes it grow stops the server, and one client
# adds a bounded number of lines.
set -u
. "$(dirname "$0")/lib.inc"

# The Python for which the distribution's packages are installed.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
for case in unread closed read; do
    "$python" "$here/log.py" "$bin" "$work" $case || failed=1
done
end
