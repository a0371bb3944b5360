#!/bin/sh
# Thousands of malformed datagrams to the server's port disturb no player.
set -u
. "$(dirname "$0")/lib.inc"

serve server --seed 1
server=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 6 --link ok --seed 1
bots=$pid
check "six bots join" await shows "$work/server.err" " joined " 6
sent=30000
check "$sent datagrams are sent" python3 "$here/garbage.py" "$port" $sent 1
kill -TERM "$bots"
finish "$bots"
check "the bots play to their end" good bots
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict" good server
# The link loses 1 of 100 snapshots, and the last ones are in flight when the bots leave.
check "the bots received nearly all snapshots, without a mismatch" report bots \
    '(c["left"] == 6 and c["hash_mismatches"] == 0 and
     c["snapshots"] > 0.8 * of("server")["server"]["snapshots"] > 0)'
check "the server refused the malformed datagrams and admitted no client for them" report server \
    "sum(s['rejected'].values()) + s['receive_drops'] + s['handshakes_dropped_unread'] > 0.5 * $sent and s['joins'] == 6 and s['timeouts'] == 0"
dropped=$(sed -n 's/.*warn  datagrams-dropped count=\([0-9]*\) .*/\1/p' "$work/server.err" | awk '{ n += $1 } END { print n + 0 }')
check "the log has counted what was dropped unread ($dropped)" report server \
    "s['receive_drops'] + s['handshakes_dropped_unread'] == $dropped"
check "the server lost no input" report server 'inputs["lost"] == 0'
end
