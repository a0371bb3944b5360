#!/bin/sh
# Thousands of senseless datagrams at the server's port disturb nobody who plays.
set -u
. "$(dirname "$0")/lib.inc"

serve server --seed 1
server=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 6 --duration 6 --link ok --seed 1
bots=$pid
sleep 1
sent=$(timeout 20 python3 "$here/garbage.py" "$port" 4 1)
check "thousands of datagrams were sent ($sent)" test "$sent" -gt 5000
finish "$bots"
check "the bots play to their end" good bots
check "as before: all snapshots, no mismatch, no stall" report bots \
    'c["left"] == 6 and c["snapshots"] > 6 * 250 and c["hash_mismatches"] == 0 and c["stalls"] == 0'
kill -TERM "$server"
finish "$server"
check "the server ends in good order" good server
check "it refused them all and took nobody in for them" report server \
    "sum(s['rejected'].values()) > 0.5 * $sent and s['joins'] == 6 and s['timeouts'] == 0"
check "it missed no tick and lost no input" report server \
    's["ticks_missed"] == 0 and inputs["lost"] == 0'
end
