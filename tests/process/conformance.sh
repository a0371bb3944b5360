#!/bin/sh
# A client in Python that was written from proto/PROTOCOL.md alone plays with a real server and finds
# every byte as the standard says.
set -u
HC_LIMIT=120
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

"$bin/hindcastd" key --key-file "$work/keys"
serve_with server --key-file "$work/keys" --port 0
"$python" "$here/../../deploy/backend.py" "$work/keys" 0 >"$work/backend.out" 2>"$work/backend.err" &
running="$running $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q listening "$work/backend.out" || sleep 0.3
done
ask() {
    "$python" -c 'import sys, urllib.request as r
sys.stdout.buffer.write(r.urlopen("http://127.0.0.1:" + sys.argv[1] + "/token", sys.argv[2].encode()).read())' \
        "$(sed 's/.*://' "$work/backend.out")" "$1"
}
check "the example of a backend gives a user a token" ask user=ada
ask user=ada >"$work/tokens"
if ask user=eve >"$work/none" 2>&1; then none=given; else none=refused; fi
check "and somebody else none" test "$none" = refused
start player hindcast-bot --connect "127.0.0.1:$port" --token "$work/tokens" --duration 2
finish "$pid"
check "which lets it in" report player 'c["left"] == 1 and c["snapshots"] > 60'
end
