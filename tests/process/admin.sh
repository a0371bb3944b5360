#!/bin/sh
# The admin face: its owner reads metrics, health and the status of players, whoever else asks is refused, and the
# players notice neither.
set -u
. "$(dirname "$0")/lib.inc"

# admin ARGUMENTS...: asks the face at $at.
admin() {
    python3 "$here/admin.py" "$at" "$@"
}

# is VALUE COMMAND...: the command prints this.
is() {
    value=$1
    shift
    found=$("$@")
    echo "$found"
    [ "$found" = "$value" ]
}

# serve_admin NAME ARGUMENTS...: as serve, with an admin face; sets $at.
serve_admin() {
    serve "$@"
    opened() {
        at=$(sed -n 's/.* admin-open at=\([^ ]*\) .*/\1/p' "$work/$name.err")
        [ -n "$at" ]
    }
    await opened
}

# status_is EXPRESSION: it holds for the status s, its matches m, and the clients c of the first one.
status_is() {
    admin get /status >"$work/status.json" && python3 - "$work/status.json" "$1" <<'PYTHON'
import json, sys
s = json.load(open(sys.argv[1]))
m = s["matches"]
c = m[0]["clients"]
if not eval(sys.argv[2]):
    sys.exit(f"{sys.argv[2]}\n{json.dumps(s)}")
PYTHON
}

# Addresses and passwords.
refused() {
    pattern=$1
    shift
    status=0
    timeout 60 "$bin/hindcastd" --dev --port 0 --bind 127.0.0.1 "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" != 0 ] && grep -q -e "$pattern" "$work/err"
}
check "an address that strangers reach needs a password" refused "unless --admin-password-file" --admin 0.0.0.0:0
check "also the one of IPv6" refused "unless --admin-password-file" --admin "[::]:0"
check "a name is no address" refused "a numeric address and a port" --admin localhost:0
check "a relative path is none" refused "a numeric address and a port" --admin unix:admin.sock
check "a password needs a face" refused "given with --admin" --admin-password-file "$work/password"
printf 'too short\n' >"$work/password"
chmod 600 "$work/password"
check "a short password is refused" refused "one line of 16 to 256 bytes" --admin 127.0.0.1:0 \
    --admin-password-file "$work/password"
printf 'correct horse battery staple\n' >"$work/password"
chmod 644 "$work/password"
check "so is one that others can read" refused "chmod 600" --admin 127.0.0.1:0 --admin-password-file "$work/password"
chmod 600 "$work/password"

# A face with a password, at a Unix socket.
umask 000
serve_admin locked --admin "unix:$work/admin.sock" --admin-password-file "$work/password"
locked=$pid
umask 022
check "only its user reaches a Unix socket" is "srw-------" stat -c %A "$work/admin.sock"
check "no password, no status" is 401 admin code /status
check "nor does it tell which paths there are" is 401 admin code /nothing
check "a wrong password" is 401 admin code /status "correct horse battery stapl"
check "a longer one" is 401 admin code /status "correct horse battery staple "
check "the right one" is 200 admin code /status "correct horse battery staple"
check "probes have none" is 200 admin code /healthz
check "200 guesses are refused" admin guess 200
check "a second server does not take the socket away" refused "Address already in use" --admin "unix:$work/admin.sock"
kill -TERM "$locked"
finish "$locked"
check "the socket goes with its server" test ! -e "$work/admin.sock"
python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" "$work/admin.sock"
serve_admin again --admin "unix:$work/admin.sock"
again=$pid
check "a socket that a crash left is replaced" is 200 admin code /healthz
kill -TERM "$again"
finish "$again"

# Eight bots play while a crowd of connections asks.
serve_admin server --admin 127.0.0.1:0 --max-clients 8
server=$pid
check "nobody plays yet" status_is 's["ready"] and s["healthy"] and len(m) == 1 and c == []'
start bots hindcast-bot --connect "127.0.0.1:$port" --count 8 --link ok
bots=$pid
check "eight bots play" await grep -q "all .* play" "$work/bots.out" "$work/bots.err"
check "the status has them, with players of their own" await status_is \
    'len(c) == 8 and sorted(p for x in c for p in x["players"]) == list(range(8)) and all(x["connected"] for x in c)'
check "with round trips, losses, margins and bytes" await status_is \
    'all(x["rtt_ms"] > 20 and x["jitter_ms"] >= 0 and 0 <= x["loss_pct"] < 50 and x["margin_least_ms"] <= x["margin_median_ms"] and 0 < x["bytes_received"] and x["datagrams_sent"] > 0 for x in c)'
admin get /metrics >"$work/first"
check "metrics are as Prometheus wants them" python3 "$here/metrics.py" "$work/first"
check "the server plays on while 200 connections stand half open" admin crowd 5
check "requests are refused that no owner makes" admin hostile
admin get /metrics >"$work/second"
check "counters only grow" python3 "$here/metrics.py" --same "$work/first" "$work/second"
more() {
    admin get /metrics >"$work/more"
    python3 - "$work/first" "$work/more" <<'PYTHON'
import sys
value = lambda path: next(int(l.split()[1]) for l in open(path) if l.startswith("hindcast_snapshots_total"))
sys.exit(value(sys.argv[2]) <= value(sys.argv[1]))
PYTHON
}
check "and follow the game" await more
check "no name and no number of a player is in a metric" \
    sh -c "grep -q 'joins_total{match' '$work/second' &&
        ! grep -o '{.*}' '$work/second' | grep -E '[{,](client_id|cid|user|name|address|player)=|127\\.0'"
descriptors() { find "/proc/$server/fd" | wc -l; }
few() { [ "$(descriptors)" -lt 100 ]; }
check "connections are bounded" await few
kill -TERM "$bots"
finish "$bots"
check "they go from the status" await status_is 'c == []'
kill -TERM "$server"
finish "$server"
check "nobody stalled, unless the machine stood still" report bots \
    'c["hash_mismatches"] == 0 and c["connections_lost"] == 0 and (c["stalls"] == 0 or of("server")["server"]["ticks_missed"] > 0)'

# Several matches.
serve_admin several --admin "[::1]:0" --matches 3 --workers 2
several=$pid
check "each match has its metrics" sh -c "python3 '$here/admin.py' '$at' get /metrics >'$work/several' &&
    python3 '$here/metrics.py' '$work/several' && grep -q '^hindcast_joins_total{match=\"3\"} 0' '$work/several'"
check "and its place in the status" status_is '[x["match"] for x in m] == [1, 2, 3] and all(x["current"] for x in m)'
kill -TERM "$several"
finish "$several"
end
