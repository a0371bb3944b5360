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
check "200 guesses are refused, and few are looked at" admin guess 200
check "the log says that somebody guesses" grep -q " admin-denied" "$work/locked.err"
check "a second later hindcastctl has it from its file" \
    await "$bin/hindcastctl" --admin "$at" --password-file "$work/password" metrics
check "and is refused without" sh -c "'$bin/hindcastctl' --admin '$at' metrics; test \$? = 1"
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
    'all(x["rtt_ms"] > 20 and x["jitter_ms"] >= 0 and 0 <= x["loss_pct"] < 50 and x["margin_low_ms"] <= x["margin_median_ms"] and 0 < x["bytes_received"] and x["datagrams_sent"] > 0 for x in c)'
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

# Orders, by hindcastctl and by HTTP. Users 1 to 4 play.
make_tokens 4
printf '# mine\n99\n' >"$work/refused"
printf 'late-margin = 9\n' >"$work/conf"
serve_with orders --key-file "$work/keys" --port 0 --refused "$work/refused" --config "$work/conf" --admin 127.0.0.1:0 \
    --max-clients 4 --log-format text
orders=$pid
await opened
ctl() {
    status=0
    "$bin/hindcastctl" --admin "$at" "$@" >"$work/ctl.out" 2>"$work/ctl.err" || status=$?
    cat "$work/ctl.out" "$work/ctl.err"
}
# exits STATUS ARGUMENTS...: hindcastctl exits so.
exits() {
    expected=$1
    shift
    ctl "$@"
    [ "$status" = "$expected" ]
}
start players hindcast-bot --connect "127.0.0.1:$port" --count 4 --token "$work/tokens"
players=$pid
check "four users play" await shows "$work/orders.err" " joined " 4
check "hindcastctl shows the status" exits 0 status
check "which names them" status_is '{x["client_id"] for x in c} == {"1", "2", "3", "4"}'
check "and its help names each command" sh -c "'$bin/hindcastctl' --help >'$work/help' &&
    for c in status metrics healthz readyz kick say ban unban reload snapshot-rate drain trace restart; do grep -q \"^ *\$c\" '$work/help' || exit 1; done"
check "a wrong command" exits 2 dance
check "a wrong number" exits 2 kick -- -1
check "a number too many" exits 2 reload 1
check "nobody there" exits 1 --admin unix:/nonexistent status
check "is said in a sentence" grep -q "^hindcastctl: --admin 'unix:/nonexistent': No such file" "$work/ctl.err"
check "a user who does not play" exits 1 kick 17
check "a user is kicked" exits 0 kick 1
check "its session ends" await grep -q " left .*user=1 .*by=server" "$work/orders.err"
check "the others play on" await status_is '{x["client_id"] for x in c} == {"2", "3", "4"}'
check "a user is banned" exits 0 ban 2
check "its session ends too" await grep -q " left .*user=2 .*by=server" "$work/orders.err"
check "it is in the file, beside those before" is "# mine 99 2" sh -c "tr '\n' ' ' <'$work/refused' | sed 's/ \$//'"
"$bin/hindcastd" token --key-file "$work/keys" --client-id 2 >"$work/banned"
start banned hindcast-bot --connect "127.0.0.1:$port" --token "$work/banned"
check "another token does not let it in" await grep -q " denied reason=refused" "$work/orders.err"
finish "$pid"
check "an order by HTTP, with JSON" is 202 admin post /unban '{"user": 2}' application/json
check "lifts the ban" is "# mine 99" sh -c "tr '\n' ' ' <'$work/refused' | sed 's/ \$//'"
check "is in force" await shows "$work/orders.err" " refused-read " 2
"$bin/hindcastd" token --key-file "$work/keys" --client-id 2 >"$work/lifted"
start lifted hindcast-bot --connect "127.0.0.1:$port" --token "$work/lifted" --duration 1
finish "$pid"
check "and another token lets the user in again" good lifted
# Bans the users 101 to 108 at the same time.
ban_eight() {
    for user in 101 102 103 104 105 106 107 108; do
        admin post /ban "user=$user" >"$work/ban$user" &
        eval "ban$user=$!"
    done
    for user in 101 102 103 104 105 106 107 108; do
        eval "wait \$ban$user"
    done
}
# banned COUNT: so many of them were, and only those who are in the file.
banned() {
    cat "$work"/ban10?
    [ "$(cat "$work"/ban10? | grep -c 202)" = "$1" ] && [ "$(grep -c '^10[1-8]$' "$work/refused")" = "$1" ]
}
ban_eight
check "bans at the same time are all written" banned 8
cp "$work/refused" "$work/before"
seq 1000 17380 >"$work/refused" # 3 fewer than it may have
ban_eight
check "of too many at the same time only those are refused that have no room" banned 3
cat "$work/before" >"$work/refused"
chmod 666 "$work/refused"
check "a file that others may write is not changed" exits 1 ban 5
check "and the answer says why" grep -q "others may write to it" "$work/ctl.err"
chmod 600 "$work/refused"
: >"$work/refused.new"
check "what an interrupted change has left stops no other" exits 0 unban 108
mkdir "$work/refused.new"
check "a file that cannot be replaced stays as it is" sh -c "'$bin/hindcastctl' --admin '$at' ban 5; test \$? = 1 && ! grep -qx 5 '$work/refused'"
check "and the log says so" await grep -q " ban-failed why=" "$work/orders.err"
rmdir "$work/refused.new"
printf 'late-margin = 8\n' >"$work/conf"
check "a reload" exits 0 reload
check "changes what the file says" await grep -q " setting-changed key=late-margin before=9 now=8" "$work/orders.err"
check "another snapshot rate" exits 0 snapshot-rate 20
check "is in force" grep -q " setting-changed key=snapshot-rate before=0 now=20" "$work/orders.err"
check "one above the tick rate is not" exits 1 snapshot-rate 61
check "a restart" exits 0 restart
finish "$orders"
check "ends the server with a good verdict" good orders
check "and lets its clients come back" shows "$work/players.err" "the server restarts" 1
kill -TERM "$players"
finish "$players"

# An idle server ends at once, and nevertheless answers.
serve idle --admin 127.0.0.1:0
idle=$pid
await opened
check "an idle server answers a restart" exits 0 restart
check "with a sentence" grep -q "^the server ends" "$work/ctl.out"
finish "$idle"
check "and ends" grep -q " stopping reason=admin clients=0" "$work/idle.err"

# A drain: those who play go on, and nobody joins.
serve_with drains --key-file "$work/keys" --port 0 --matches 2 --admin 127.0.0.1:0 --log-format text
drains=$pid
await opened
"$bin/hindcastd" token --key-file "$work/keys" --client-id 5 >"$work/five.token"
"$bin/hindcastd" token --key-file "$work/keys" --client-id 6 >"$work/six.token"
start five hindcast-bot --connect "127.0.0.1:$port" --token "$work/five.token"
five=$pid
check "a user plays" await grep -q " joined .*user=5" "$work/drains.err"
check "a server drains" exits 0 drain 600
check "it is not ready any more" is 503 admin code /readyz
check "but healthy" is 200 admin code /healthz
start six hindcast-bot --connect "127.0.0.1:$port" --token "$work/six.token"
check "another user is denied" await grep -q " denied reason=shutdown" "$work/drains.err"
finish "$pid"
check "who plays goes on" status_is 'sum(len(x["clients"]) for x in m) == 1'
kill -TERM "$five"
finish "$five"
finish "$drains"
check "when nobody plays, the server ends" grep -q " stopping reason=drained clients=0" "$work/drains.err"
serve late --admin 127.0.0.1:0
late=$pid
await opened
start stays hindcast-bot --connect "127.0.0.1:$port"
stays=$pid
check "a user plays there" await grep -q " joined " "$work/late.err"
check "a server drains for a second" exits 0 drain 1
finish "$late"
check "then it ends although somebody plays" grep -q " stopping reason=drained clients=1" "$work/late.err"
finish "$stays"
check "who is told" grep -q "the server is shutting down" "$work/stays.err"
end
