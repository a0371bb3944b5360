#!/bin/sh
# Server browsers ask a server: quakestat of Debian's qstat is one. Nobody makes it send more than it is sent
# to an address that has not asked, and no flood of requests delays a tick.
set -u
. "$(dirname "$0")/lib.inc"

# shown EXPRESSION: the newest answers x of the query port, and its players p and rules r.
shown() {
    python3 - "$work/asked" "$1" <<'PYTHON'
import json, sys
x = json.load(open(sys.argv[1]))[0]
p, r = x.get("players", []), x.get("rules", {})
if not eval(sys.argv[2]):
    sys.exit(f"{sys.argv[2]}\n{x}")
PYTHON
}
# asks EXPRESSION: the same of new answers.
asks() {
    quakestat -a2s "127.0.0.1:$query" -R -P -json >"$work/asked" && shown "$1"
}
# free_port: sets $query to a UDP port that nobody has.
free_port() {
    query=$(python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
for name in Ann Bob 'Jörg'; do
    "$bin/hindcastd" token --key-file "$work/keys" --name "$name" --life 3600 >>"$work/tokens"
done
free_port
serve_with browsed --key-file "$work/keys" --port 0 --matches 2 --workers 2 --npcs 1 --max-clients 5 \
    --query-port "$query" --query-name "Jörg's server" --log-format text
server=$pid
check "the log has the port" await grep -q " query-open port=$query" "$work/browsed.err"
start players hindcast-bot --connect "127.0.0.1:$port" --count 3 --token "$work/tokens"
players=$pid
check "three users play" await shows "$work/browsed.err" " joined " 3
check "quakestat shows the server and its players" await asks 'x["status"] == "online" and len(p) == 3'
check "with its name" shown '"server" in x["name"] and x["map"] == x["gametype"] == "arena"'
check "with users and NPCs of all matches" shown 'x["numplayers"] == 3 + 2 and x["maxplayers"] == 10 and r["bots"] == "2"'
check "with the port of the game" shown "r['game_port'] == '$port'"
check "with the names of players" shown 'sorted(i["name"] for i in p)[:2] == ["Ann", "Bob"] and all(i["score"] == 0 for i in p)'
check "with settings" shown 'r["tick_rate_hz"] == "60" and r["matches"] == "2" and r["ready"] == "1" and r["protocol_id"].startswith("0x")'
check "hostile requests get no more bytes than they send, and a browser is answered all the same" \
    python3 "$here/query.py" hostile "$query"
check "a challenge answers its own address alone" python3 "$here/query.py" challenge "$query"
check "a flood is answered at the limit of its address" python3 "$here/query.py" flood "$query"
later() { asks 'x["status"] == "online" and len(p) == 3'; }
check "and afterwards the browser has its answer" await later
kill -TERM "$players"
finish "$players"
kill -TERM "$server"
finish "$server"
check "nobody stalled, unless the machine stood still" report players \
    'c["hash_mismatches"] == 0 and c["connections_lost"] == 0 and (c["stalls"] == 0 or of("browsed")["server"]["ticks_missed"] > 0)'

refused() {
    expected=$1
    shift
    "$bin/hindcastd" --dev "$@" >"$work/refused" 2>&1 && return 1
    grep -q -- "$expected" "$work/refused" || { cat "$work/refused"; return 1; }
}
check "the query port is not that of the game" refused "--query-port '40000': must be another port than --port" --query-port 40000
check "a name can be seen" refused "--query-name 'a.*': must be 1 to 63 bytes" --query-name "$(printf 'a\007')"
python3 -c "
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0))
print(s.getsockname()[1], flush=True); time.sleep(600)" >"$work/taken" &
taken=$!
running="$running $taken"
await test -s "$work/taken"
check "a port that another has is named" refused "--query-port $(cat "$work/taken"): Address already in use" --port 0 --bind 127.0.0.1 \
    --query-port "$(cat "$work/taken")"
kill "$taken"
finish "$taken" 2>/dev/null
end
