#!/bin/sh
# hindcast-load --spawn with games of few players: steps, joins again, and arguments for the server.
set -u
HC_LIMIT=300
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)
# plugin NAME FILE: compiles a game of 6 players, or the one of the file.
plugin() {
    cc -std=c11 -O2 -fPIC -shared -I "$root/include" -I "$root/examples/pong" -o "$work/$1.so" "$2"
}
check "a game of 2 players builds" plugin pong2 "$root/examples/pong/pong.c"
sed 's/\.players_max = 8/.players_max = 6/' "$root/examples/duel/duel.c" >"$work/duel.c"
cp "$root/examples/duel/duel.h" "$root/examples/duel/duel.txt" "$work"
check "a game of 6 players builds" plugin duel6 "$work/duel.c"

for game in pong2 duel6; do
    players=${game#????}
    start "$game.steps" hindcast-load --spawn --game "$work/$game.so" --step 1 --duration 1
    finish "$pid"
    check "$game: the steps end with all $players players, none of whom is denied" python3 - \
        "$work/$game.steps.json" "$players" <<'END'
import json, sys
rows, most = json.load(open(sys.argv[1]))["steps"], int(sys.argv[2])
assert rows and all(row["clients"] <= most for row in rows), rows
assert not any(reason["key"] in ("denied", "timeouts") for row in rows for reason in row["reasons"]), rows
assert rows[-1]["clients"] == most or not rows[-1]["held"], rows
END
    start "$game.churn" hindcast-load --spawn --game "$work/$game.so" --churn 1 --duration 4
    finish "$pid"
    check "$game: players leave and join again" report "$game.churn" \
        "r['clients'] == $players and s['joins'] > $players and c['denied'] == 0"
done

start args hindcast-load --spawn --server-args '--tick-rate 30 --history 20 --matches 2' --clients 4 --duration 2
finish "$pid"
check "the server gets its arguments" report args 'r["tick_rate_hz"] == 30 and c["accepted"] == 4'
start wrong hindcast-load --spawn --server-args '--history 9999' --clients 4 --duration 2
finish "$pid"
check "a wrong one ends the run with the server's own words" sh -c \
    "[ $status = 1 ] && grep -q \"hindcastd: --history '9999'\" '$work/wrong.err'"
end
