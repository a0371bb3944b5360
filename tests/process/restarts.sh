#!/bin/sh
# A killed server is started again with another number of matches and the same keys: its clients learn of
# it by a RESET, also from matches where nobody plays, and play on.
set -u
. "$(dirname "$0")/lib.inc"

make_tokens 16
with="--key-file $work/keys --max-clients 16"

serve_again one $with
start bots hindcast-bot --connect "127.0.0.1:$port" --count 16 --token "$work/tokens"
bots=$pid
check "16 bots play in one world" await shows "$work/one.err" " joined " 16
resets=0 longest=0
for matches in 4 1 4 4 1; do
    killed=$(date +%s)
    kill -9 "$server"
    finish "$server"
    resets=$((resets + 1))
    serve_again "again$resets" $with --matches $matches --workers $((matches > 1 ? 2 : 1))
    took=$(($(date +%s) - killed))
    longest=$((took > longest ? took : longest))
    check "after restart $resets, with --matches $matches, all play again" \
        await shows "$work/again$resets.err" " joined " 16
done
# Without a RESET a client waits 10 s for its server. A machine may be so busy that a start takes as long.
check "matches where nobody plays answer with a RESET, so nobody waits until the server is silent for too long" \
    sh -c "[ $longest -ge 8 ] || ! grep 'received nothing from the server' '$work/bots.err'"
kill -TERM "$bots"
finish "$bots"
check "all bots have reconnected each time, and every snapshot was right" report bots \
    "c['reconnects'] == 16 * $resets and c['hash_checks'] > 0 and c['hash_mismatches'] == 0"
kill -TERM "$server"
finish "$server"
end
