#!/bin/sh
# A server in a fleet of Agones, beside a stub of the sidecar (sidecar.py) with its quirks: what it says, in which
# order and how often, and what it makes of a sidecar that is late, wrong or gone.
set -u
. "$(dirname "$0")/lib.inc"

# free_port: prints the number of a TCP port that is free now.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# sidecar NAME SETTINGS...: starts a stub, whose requests go to NAME.log; sets $stub and $side.
sidecar() {
    name=$1
    shift
    rm -f "$work/$name.port"
    python3 "$here/sidecar.py" "$work/$name.port" "$work/$name.log" "$@" 2>"$work/$name.stub" &
    stub=$!
    running="$running $stub"
    await test -s "$work/$name.port"
    side=$(cat "$work/$name.port")
}

# put JSON: changes the gameserver of the stub at $side.
put() {
    python3 - "$side" "$1" <<'PYTHON'
import sys, urllib.request
request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/stub", sys.argv[2].encode(), method="PUT")
urllib.request.urlopen(request).read()
PYTHON
}

# holds EXPRESSION [WAIT]: it holds for the stub's gameserver s, its list of players and its count of rooms, within
# WAIT seconds.
holds() {
    python3 - "$side" "$1" "${2-0}" <<'PYTHON'
import json, sys, time, urllib.request
until = time.monotonic() + float(sys.argv[3])
while True:
    request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/stub", b"{}", method="PUT")
    s = json.load(urllib.request.urlopen(request))
    players, rooms = s["players"]["values"], s["rooms"]["count"]
    if eval(sys.argv[2]):
        break
    if time.monotonic() > until:
        sys.exit(f"{sys.argv[2]}\n{s}")
    time.sleep(0.1)
PYTHON
}

# asked NAME EXPRESSION [WAIT]: it holds for the requests r of the stub NAME, with the times of a path, and their
# paths, within WAIT seconds.
asked() {
    python3 - "$work/$1.log" "$2" "${3-0}" <<'PYTHON'
import json, statistics, sys, time
until = time.monotonic() + float(sys.argv[3])
at = lambda path: [x["t"] for x in r if x["path"] == path]
gaps = lambda path: [b - a for a, b in zip(at(path), at(path)[1:])]
faulty = lambda path: sum(x["path"] == path and x["fault"] is not None for x in r)
while True:
    r = [x for x in map(json.loads, open(sys.argv[1])) if x["path"] != "/stub"]
    paths = [x["path"] for x in r]
    if eval(sys.argv[2]):
        break
    if time.monotonic() > until:
        sys.exit(f"{sys.argv[2]}\n" + "\n".join(map(str, r)))
    time.sleep(0.1)
PYTHON
}

# lines NAME PATTERN COUNT: the log of the server NAME has exactly so many lines of the pattern.
lines() {
    grep -e "$2" "$work/$1.err"
    [ "$(grep -ce "$2" "$work/$1.err")" = "$3" ]
}

refused() {
    pattern=$1
    shift
    status=0
    timeout 60 "$bin/hindcastd" --dev --bind 127.0.0.1 "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" != 0 ] && grep -q -e "$pattern" "$work/err"
}

# ---- The port -----------------------------------------------------------------------------------

check "a port of a gameserver needs a fleet" refused "given with --agones" --agones-port game
check "it is no port of the settings" refused "given without --port" --agones --agones-port game --port 5
export AGONES_SDK_HTTP_PORT=70000
check "a wrong port of the sidecar is named" refused "AGONES_SDK_HTTP_PORT '70000'" --agones

game=$(free_port)
side=$(free_port)
export AGONES_SDK_HTTP_PORT="$side"
"$bin/hindcastd" --dev --bind 127.0.0.1 --agones --agones-port game >"$work/late.out" 2>"$work/late.err" &
late=$!
running="$running $late"
check "a late sidecar is waited for" await shows "$work/late.err" "agones-silent" 1
sidecar late port="$side" game=0 state=Starting
check "a gameserver without the port is read again, each second" \
    asked late "len(gaps('/gameserver')) >= 2 and statistics.median(gaps('/gameserver')) > 0.5" $AWAIT
put "{\"game\": $game}"
check "the port is learned from the gameserver before it is bound" \
    await grep -qx "listening on 127.0.0.1:$game" "$work/late.out"
check "the server becomes Ready" holds "s['state'] == 'Ready'" $AWAIT
check "the log says once that the sidecar is late" lines late "agones-silent" 1
check "the log says that it answers" lines late "agones-answers" 1
kill -9 "$stub"
check "a sidecar that is gone is missed" await shows "$work/late.err" "agones-silent" 2
kill -TERM "$late" # drains, for 0 s
await shows "$work/late.err" "draining" 1
kill -TERM "$late"
finish "$late"
check "without a sidecar a second SIGTERM ends the server" [ "$status" = 0 ]

# ---- A life -------------------------------------------------------------------------------------

make_tokens 7 # each admits once
sed -n 1,3p "$work/tokens" >"$work/first"
sed -n 4,5p "$work/tokens" >"$work/second"
sed -n 6,7p "$work/tokens" >"$work/third"
sidecar life period=2 rooms=0/9 players=2
export AGONES_SDK_HTTP_PORT="$side"
echo "agones-empty-after = 3600" >"$work/life.conf"
serve_with life --key-file "$work/keys" --port 0 --matches 2 --max-clients 4 --linger 0 --agones \
    --config "$work/life.conf" --drain-on-term 300
server=$pid
check "a server says that it is ready" holds "s['state'] == 'Ready'" $AWAIT
check "before, it has read the gameserver" asked life \
    "paths.index('/gameserver') < paths.index('/ready') and paths.count('/ready') == 1"
check "the capacities are those of the server" holds \
    "s['rooms']['capacity'] == 2 and s['players']['capacity'] == 8" $AWAIT
put '{"state": "Allocated", "allocated": "first", "rooms": 2, "values": ["2", "777"]}'
check "an allocation is noticed" await lines life "agones-allocated at=first" 1
# The promised one comes first: the server has seen it once it has listed the others.
sed -n 2p "$work/first" >"$work/promised"
sed -n '1p; 3p' "$work/first" >"$work/others"
start promised hindcast-bot --connect "127.0.0.1:$port" --count 1 --token "$work/promised"
promised=$pid
check "a promised player joins" await shows "$work/life.err" " joined " 1
start players hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/others"
bots=$pid
check "the players are in the list, also one whom the allocator has promised" holds \
    "sorted(players) == ['1', '2', '3', '777']" $AWAIT
check "promised rooms stay" holds "rooms == 2"
put '{"allocated": "second"}'
check "another allocation is noticed" await lines life "agones-allocated at=second" 1
check "repeated events are one" lines life "agones-allocated" 2
kill -TERM "$bots" "$promised"
finish "$bots"
finish "$promised"
check "players who leave are taken out of the list, and their room out of the counter" holds \
    "players == ['777'] and rooms == 1" $AWAIT
echo "agones-empty-after = 1" >"$work/life.conf"
kill -HUP "$server"
check "promises that nobody keeps lapse" holds "players == [] and rooms == 0" $AWAIT
check "an allocated server without players returns to the fleet" holds "s['state'] == 'Ready'" $AWAIT
check "no value was added twice, and no number was wrong" asked life "all(x['status'] == 200 for x in r)"

start again hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/second"
bots=$pid
check "players who come by themselves make the server allocated" holds "s['state'] == 'Allocated'" $AWAIT
check "they are in the list" holds "len(players) == 2 and rooms == 1" $AWAIT
kill -TERM "$server"
check "SIGTERM lets the match go on" await shows "$work/life.err" "draining seconds=300 clients=2" 1
check "no room is left for an allocator" holds "rooms == 2" $AWAIT
check "the server is not shut down while it plays" asked life "'/shutdown' not in paths"
kill -TERM "$bots"
finish "$bots"
check "when the match has ended, it is" holds "s['state'] == 'Shutdown'" $AWAIT
check "it waits for the next SIGTERM" kill -TERM "$server"
finish "$server"
check "then it ends" good life
check "it was healthy more than twice in its period" asked life \
    "len(gaps('/health')) > 3 and statistics.median(gaps('/health')) <= 1"
check "each request that changes something has a body" asked life \
    "all(x['body'] for x in r if x['method'] != 'GET')"

# ---- Faults -------------------------------------------------------------------------------------

sidecar faults period=2 state=Ready
export AGONES_SDK_HTTP_PORT="$side"
put '{"faults": {"/gameserver": "garbage"}}'
serve_with faults --key-file "$work/keys" --port 0 --agones --agones-empty-after 3 --drain-on-term 1
server=$pid
resident() {
    sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' "/proc/$server/status"
}
before=$(resident)
check "a gameserver that is none is read again" asked faults "faulty('/gameserver') >= 3" $AWAIT
check "the log says so once" lines faults "agones-refused call=/gameserver" 1
put '{"faults": {"/gameserver": "noise"}}'
check "an answer that is no HTTP too" asked faults "any(x['fault'] == 'noise' for x in r)" $AWAIT
put '{"faults": {"/watch/gameserver": "cut", "/v1beta1/counters/rooms": "endless", "/health": "hang",
    "/v1beta1/lists/players": "refuse"}}'
check "each call is tried again, and none waits for another" asked faults "min(map(faulty,
    ('/watch/gameserver', '/v1beta1/counters/rooms', '/v1beta1/lists/players'))) >= 2 and faulty('/health') > 0" $AWAIT
for kind in flood endless garbage; do
    put "{\"faults\": {\"/watch/gameserver\": \"$kind\"}}"
    check "a stream that is wrong ($kind) ends nothing" \
        asked faults "any(x['fault'] == '$kind' for x in r)" $AWAIT
done
start calm hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/third" --duration 3
finish "$pid"
check "players play on meanwhile" report calm 'c["accepted"] == 2 and c["snapshots"] > 60'
put '{"faults": {}}'
check "then all is as it must be" holds "s['state'] == 'Ready' and players == [] and rooms == 0" $AWAIT
check "the server took at most 16 MB for it" [ $(($(resident) - before)) -lt 16000 ]
check "the log has a few lines about it" [ "$(grep -c "agones-refused\|agones-silent" "$work/faults.err")" -lt 20 ]
kill -TERM "$server"
check "SIGTERM shuts it down" await shows "$work/faults.err" "agones-shutdown" 1
kill -TERM "$server"
finish "$server"
check "and the next one ends it" good faults
end
