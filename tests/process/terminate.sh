#!/bin/sh
# On SIGTERM a server closes all connections, prints its report and exits with 0; a bot leaves the
# server.
set -u
. "$(dirname "$0")/lib.inc"

serve server --seed 1 --log-format json
server=$pid
start stays hindcast-bot --connect "127.0.0.1:$port" --count 3 --link ok --seed 1
stays=$pid
start leaves hindcast-bot --connect "127.0.0.1:$port" --count 2 --link ok --seed 2
leaves=$pid
check "all of them join" await shows "$work/server.err" '"joined"' 5
sleep 2.5
kill -TERM "$leaves"
finish "$leaves"
check "a bot ends with a good verdict on SIGTERM" good leaves
check "it has played and left" report leaves 'c["left"] == 2 and c["snapshots"] > 0'
check "values that only its server knows are null" report leaves \
    's["longest_unsent_ticks"] is None and s["memory_bytes"] is None'
check "the table for people has no line of them" sh -c "! grep -q '^ server\|memory\|unknown' '$work/leaves.out'"
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict on SIGTERM" good server
check "it has printed its report" grep -q "^hindcastd: " "$work/server.out"
check "all of its clients have left, none timed out" \
    report server 's["joins"] == 5 and s["timeouts"] == 0'
check "it uses as much memory as at the start" python3 - "$work/server.err" "$work/server.json" <<'END'
import json, sys
started = next(e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "started")
assert started["memory_bytes"] == json.load(open(sys.argv[2]))["server"]["memory_bytes"] > 0
END
check "its log has a JSON object on each line, with every join and leave" \
    python3 - "$work/server.err" <<'END'
import json, sys
events = [json.loads(line)["event"] for line in open(sys.argv[1])]
assert events.count("joined") == 5 and events.count("left") >= 2 and "stopping" in events, events
END
finish "$stays"
check "the bots that stayed exit with 1" test "$status" = 1
check "they print that the server has shut down" grep -q "was closed by 127.0.0.1:$port: the server is shutting" \
    "$work/stays.err"

serve drained --drain-on-term 300 --linger 0
server=$pid
start plays hindcast-bot --connect "127.0.0.1:$port"
plays=$pid
await shows "$work/drained.err" " joined " 1
kill -TERM "$server"
check "with --drain-on-term SIGTERM admits nobody any more" \
    await shows "$work/drained.err" "draining seconds=300 clients=1" 1
start late hindcast-bot --connect "127.0.0.1:$port" --duration 1
finish "$pid"
check "so a newcomer is denied" test "$status" = 1
kill -TERM "$plays"
finish "$plays"
check "those who played go on until they leave" report plays 'c["left"] == 1'
finish "$server"
check "then the server ends" good drained
serve hurried --drain-on-term 300
server=$pid
start plays hindcast-bot --connect "127.0.0.1:$port"
await shows "$work/hurried.err" " joined " 1
kill -TERM "$server"
await shows "$work/hurried.err" "draining seconds=300 clients=1" 1
kill -TERM "$server"
finish "$server"
check "a second SIGTERM ends it at once" good hurried
finish "$pid"

serve counted --ticks 60 --log-level error
finish "$pid"
check "--ticks ends the server" good counted
# A late server simulates at most 16 ticks before it checks.
check "it ends after that many ticks" report counted '60 <= r["ticks"] < 60 + 16'
check "--log-level error leaves nothing in the log" test ! -s "$work/counted.err"
check "values that it cannot know are null" report counted \
    'r["rtt_ms"]["p50"] is None and c["rollbacks"] is None and r["bytes_up_per_client_s"] is None'
check "bytes for clients are null without clients" report counted \
    'r["bytes_down_per_client_s"] is None'
end
