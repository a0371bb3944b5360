#!/bin/sh
# A client in Python that was written from proto/PROTOCOL.md alone plays with a real server and finds
# every byte as the standard says.
set -u
. "$(dirname "$0")/lib.inc"

# The Python for which the distribution's packages are installed.
python=/usr/bin/python3
"$python" -c "import nacl, msgpack" 2>/dev/null || python=python3
"$python" "$here/../conformance/conformance.py" --hindcastd "$bin/hindcastd" >"$work/lines" 2>&1
status=$?
grep -v "^ok " "$work/lines"
checks=$(grep -c "^ok " "$work/lines")
check "all holds that the standard says ($checks checks)" test "$status" = 0
check "hardly any check was left out" test "$checks" -ge 200
end
