#!/bin/sh
# Nobody stops the server by its log: neither one who does not read it, nor a client that makes it
# write as fast as it can; and what one client adds to it is bounded.
set -u
. "$(dirname "$0")/lib.inc"

# The Python for which the distribution's packages are installed.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
for case in unread closed read; do
    "$python" "$here/log.py" "$bin" "$work" $case || failed=1
done
end
