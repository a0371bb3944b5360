#!/bin/sh
# SIGUSR2 restarts a server as planned: all clients wait and play again with their tickets, in one world and in
# several matches. After SIGTERM all are told that it shuts down, and none tries on.
set -u
. "$(dirname "$0")/lib.inc"

make_tokens 16
with="--key-file $work/keys --max-clients 16 --log-format json --restart-seconds 2"

# told NAME REASON: each of the 16 sessions of the server ended once, for this reason and by the server.
told() {
    python3 - "$work/$1.err" "$2" <<'PYTHON'
import json, sys
left = [e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "left"]
assert len(left) == 16 and {(e["reason"], e["by"]) for e in left} == {(sys.argv[2], "server")}, left
PYTHON
}

serve_again one $with
start bots hindcast-bot --connect "127.0.0.1:$port" --count 16 --token "$work/tokens" --link ok
bots=$pid
check "16 bots play in one world" await shows "$work/bots.err" "all clients play" 1
check "16 bots have joined" shows "$work/one.err" '"joined"' 16
before=one restarts=0
for matches in 1 4 4; do
    kill -USR2 "$server"
    finish "$server"
    check "the server ends with a good verdict on SIGUSR2" good "$before"
    restarts=$((restarts + 1))
    serve_again "again$restarts" $with --matches $matches --workers $((matches > 1 ? 2 : 1))
    check "it has told all clients that it restarts" told "$before" "the server is restarting"
    check "after restart $restarts, with --matches $matches, all play again" \
        await shows "$work/bots.err" "all clients play" $((restarts + 1))
    check "each has joined once" shows "$work/again$restarts.err" '"joined"' 16
    before=again$restarts
done
check "the bots print why they wait" grep -q "has lost its connection: the server restarts" "$work/bots.err"
kill -TERM "$server"
finish "$server"
check "the server has told all clients that it shuts down" told "$before" "the server is shutting down"
finish "$bots"
check "all bots came back each time and ended with the server, and no snapshot was wrong" report bots \
    "(c['reconnects'] == 16 * $restarts and c['closed_by_server'] == 16 and c['timeouts'] == 0 and
      c['hash_checks'] > 0 and c['hash_mismatches'] == 0)"

# The list of refused users is read again while the server restarts: in either order its user hears of one end,
# and is not admitted again.
: >"$work/refused"
serve_again listed $with --refused "$work/refused"
for user in 101 102; do
    "$bin/hindcastd" token --key-file "$work/keys" --client-id $user --life 3600 >"$work/token$user"
    start user$user hindcast-bot --connect "127.0.0.1:$port" --token "$work/token$user" --link ok
    eval "bot$user=\$pid"
done
check "two users play" await shows "$work/listed.err" '"joined"' 2
echo 102 >"$work/refused"
kill -HUP "$server"
kill -USR2 "$server"
finish "$server"
serve_again relisted $with --refused "$work/refused"
check "the other user plays again" await shows "$work/relisted.err" '"joined".*"user": *"101"' 1
finish "$bot102"
check "the refused user has heard of one end, by CLOSE or by DENY" report user102 \
    "(c['closed_by_server'] + c['denied'] == 1 and c['reconnects'] == 0)"
check "its session has ended once" sh -c "[ \$(grep '\"left\"' '$work/listed.err' | grep -c '\"user\": *\"102\"') = 1 ]"
check "it is not admitted again" sh -c "! grep '\"joined\"' '$work/relisted.err' | grep '\"user\": *\"102\"'"
kill -TERM "$server"
finish "$server"
finish "$bot101"

serve_again idle $with --restart-seconds 300
start late hindcast-bot --connect "127.0.0.1:$port" --count 1 --token "$work/tokens"
late=$pid
check "a bot plays again with its first token, which the new server does not know as used" \
    await shows "$work/idle.err" '"joined"' 1
kill -USR2 "$server"
finish "$server"
check "the log names the seconds that the clients are told" shows "$work/idle.err" '"restart_seconds": *300' 1
kill -TERM "$late"
finish "$late"
end
