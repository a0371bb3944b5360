#!/bin/sh
# Neither a log that nobody reads nor clients that make it grow stop the server, and its lines are
# bounded.
set -u
. "$(dirname "$0")/lib.inc"

# The Python for which the distribution's packages are installed.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
for case in unread closed read; do
    "$python" "$here/log.py" "$bin" "$work" $case || failed=1
done
end
