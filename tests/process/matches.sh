#!/bin/sh
# A daemon with several matches and workers: tokens choose the match, matches share nothing, an empty
# match gets another world, and log and report tell the matches apart.
set -u
HC_LIMIT=120
. "$(dirname "$0")/lib.inc"

serve many --matches 6 --workers 2 --max-clients 4 --seed 5 --log-format json
many=$pid
# Two of a kind at once: clients with a token of match 5, and others that the server places.
start named hindcast-load --connect "127.0.0.1:$port" --clients 4 --match 5 --duration 2 --link ok
named=$pid
start placed hindcast-load --connect "127.0.0.1:$port" --clients 12 --duration 2 --churn 4
finish "$pid"
check "clients without a match play, and every snapshot is right" good placed
check "all were admitted, although some left and came again" report placed \
    'c["accepted"] >= 12 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0'
finish "$named"
check "clients of one match play beside them" good named
check "their snapshots are right too" report named \
    'c["accepted"] == 4 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0'

check "empty matches get another world" await shows "$work/many.err" '"match-renewed"' 4
start foreign hindcast-load --connect "127.0.0.1:$port" --clients 1 --match 7 --duration 1
finish "$pid"
check "no token names a match that the server does not have" shows "$work/foreign.err" "no tokens" 1
kill -USR1 "$many"
check "SIGUSR1 logs the report of all matches" await shows "$work/many.err" '"matches":\[{.*"match":1[,}]' 1
kill -TERM "$many"
finish "$many"
check "the daemon ends well" good many
check "the log names the match of each client" python3 - "$work/many.err" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
joined = [line["match"] for line in lines if line.get("event") == "joined"]
assert joined.count(5) == 4 and len(set(joined)) >= 4, joined
assert all(line["cid"] >> 22 == line["match"] for line in lines if "cid" in line)
renewed = [line for line in lines if line.get("event") == "match-renewed"]
assert all(line["seed"] == 5 + line["match"] - 1 + 6 * (line["worlds"] - 1) for line in renewed), renewed
END
check "the report has a part of each match, and their sums" report many '(
len(r["matches"]) == 6 and r["workers"] == 2
and [m["match"] for m in r["matches"]] == [1, 2, 3, 4, 5, 6]
and sum(m["joins"] for m in r["matches"]) == s["joins"] >= 16
and sum(m["ticks"] for m in r["matches"]) == r["ticks"]
and sum(m["client_ticks"] for m in r["matches"]) == s["client_ticks"]
and r["matches"][4]["joins"] == 4 and r["matches"][4]["clients"] == 4
and all((m["ticks"] > 0) == (m["joins"] > 0) for m in r["matches"])
and 12 <= r["clients"] <= 17)'
check "people read a line of each match that was played" shows "$work/many.out" "^  match [0-9]" 4

# A key file, and tokens of the command line.
"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
serve_with keyed --port 0 --key-file "$work/keys" --matches 3 --audience 9
"$bin/hindcastd" token --key-file "$work/keys" --audience 9 --match 3 --life 600 >"$work/three"
"$bin/hindcastd" token --key-file "$work/keys" --audience 9 --match 4 --life 600 >"$work/four"
start three hindcast-bot --connect "127.0.0.1:$port" --token "$work/three" --duration 1
finish "$pid"
check "a token of the command line names the match" await shows "$work/keyed.err" "joined.* match=3" 1
start four hindcast-bot --connect "127.0.0.1:$port" --token "$work/four" --duration 1
finish "$pid"
check "a token of a match that the server lacks is denied" await shows "$work/keyed.err" "reason=audience" 1
end
