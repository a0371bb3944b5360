#!/bin/sh
# A server that is told to end tells its clients, prints its report and exits with 0; a bot that is
# told to end says goodbye to the server.
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
check "a bot that gets SIGTERM ends in good order" good leaves
check "and has played" report leaves 'c["left"] == 2 and c["snapshots"] > 0'
check "what only its server knows is null" report leaves \
    'set(s["bytes_down_by_purpose_per_client_s"].values()) == {None} == {
        s["bytes_down_by_field_per_client_s"], s["longest_unsent_ticks"], s["memory_bytes"]}'
check "and left out for people" sh -c "! grep -q '^ server\|memory\|unknown' '$work/leaves.out'"
kill -TERM "$server"
finish "$server"
check "the server ends in good order on SIGTERM" good server
check "and has printed its report" grep -q "^hindcastd: " "$work/server.out"
check "and all that it sent in it, by purpose" report server \
    'abs(sum(s["bytes_down_by_purpose_per_client_s"].values()) - r["bytes_down_per_client_s"]) < 0.01'
check "all of its clients have left, none timed out" \
    report server 's["joins"] == 5 and s["timeouts"] == 0'
check "its memory is what it was at the start" python3 - "$work/server.err" "$work/server.json" <<'END'
import json, sys
started = next(e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "started")
assert started["memory_bytes"] == json.load(open(sys.argv[2]))["server"]["memory_bytes"] > 0
END
check "its log is one JSON object a line, with every join and leave" \
    python3 - "$work/server.err" <<'END'
import json, sys
events = [json.loads(line)["event"] for line in open(sys.argv[1])]
assert events.count("joined") == 5 and events.count("left") >= 2 and "stopping" in events, events
END
finish "$stays"
check "the bots that stayed exit with 1" test "$status" = 1
check "and say that the server went away" grep -q "was closed by 127.0.0.1:$port: the server is shutting" \
    "$work/stays.err"

serve counted --ticks 60 --log-level error
finish "$pid"
check "--ticks ends the server" good counted
# A server that is late simulates at most 16 ticks before it looks.
check "after that many ticks" report counted '60 <= r["ticks"] < 60 + 16'
check "--log-level error leaves nothing in the log" test ! -s "$work/counted.err"
check "what it cannot know is null" report counted \
    'r["rtt_ms"]["p50"] is None and c["rollbacks"] is None and r["bytes_up_per_client_s"] is None'
check "as is what it spent on nobody" report counted \
    '(s["bytes_down_by_field_per_client_s"] is None and
      set(s["bytes_down_by_purpose_per_client_s"].values()) == {None})'
end
