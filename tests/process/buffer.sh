#!/bin/sh
# A server that is granted a smaller receive buffer than it asks for warns once, and names the sysctl. A load
# test counts the datagrams of its full clients that such a buffer drops unread.
set -u
. "$(dirname "$0")/lib.inc"

cc -std=c17 -shared -fPIC -o "$work/buffer.so" "$here/buffer.c" || exit 1
export LD_PRELOAD="$work/buffer.so"
serve small --ticks 30 --log-format json
unset LD_PRELOAD
finish "$pid"
check "the server ends with a good verdict" good small
check "its log warns once of a small receive buffer" python3 - "$work/small.err" <<'END'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
started = next(e for e in events if e["event"] == "started")
[warning] = [e for e in events if e["event"] == "small-receive-buffer"]
assert warning["level"] == "warn" and "net.core.rmem_max to 4194304" in warning["why"], warning
assert warning["granted_bytes"] == started["receive_buffer_bytes_each"] == 212992, (warning, started)
assert warning["asked_bytes"] == 4194304, warning
END

serve plays --status-every 1
plays=$pid
export LD_PRELOAD="$work/buffer.so" RMEM_MAX=16384
start stopped hindcast-load --connect "127.0.0.1:$port" --clients 2 --duration 4 --processes 1
unset LD_PRELOAD RMEM_MAX
stopped=$pid
check "the clients of a load test play" await grep -q "status .*clients=2" "$work/plays.err"
kill -STOP "$stopped"
sleep 2
kill -CONT "$stopped"
finish "$stopped"
check "a load test that was stopped says that it dropped datagrams unread" report stopped \
    '(r["load"]["receive_drops"] > 0
      and any("dropped unread" in reason["text"] for reason in r["load"]["held"]["reasons"]))'
kill -TERM "$plays"
finish "$plays"
end
