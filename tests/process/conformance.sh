#!/bin/sh
# A Python client that was written from proto/PROTOCOL.md alone plays with a real server. Every byte
# conforms to the standard.
set -u
. "$(dirname "$0")/lib.inc"

# The Python that has the distribution's packages.
python=/usr/bin/python3
"$python" -c "import nacl, msgpack" 2>/dev/null || python=python3
"$python" "$here/../conformance/conformance.py" --hindcastd "$bin/hindcastd" >"$work/lines" 2>&1
status=$?
grep -v "^ok " "$work/lines"
checks=$(grep -c "^ok " "$work/lines")
check "the server conforms to the standard ($checks checks)" test "$status" = 0
check "at least 200 checks ran" test "$checks" -ge 200
end
