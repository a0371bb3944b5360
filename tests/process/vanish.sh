#!/bin/sh
# A killed bot times out and the others keep playing; bots whose server was killed print it.
set -u
. "$(dirname "$0")/lib.inc"

serve left_alone --seed 1
left_alone=$pid
start vanishing hindcast-bot --connect "127.0.0.1:$port" --count 1
vanishing=$pid
start others hindcast-bot --connect "127.0.0.1:$port" --count 3
others=$pid
serve vanishing_server --seed 1
vanishing_server=$pid
start orphans hindcast-bot --connect "127.0.0.1:$port" --count 3
orphans=$pid
orphans_port=$port
serve hasty --seed 1 --timeout 1 --linger 0
hasty=$pid
start brief hindcast-bot --connect "127.0.0.1:$port" --count 1
brief=$pid
start lonely hindcast-bot --connect 127.0.0.1:9
lonely=$pid
start impatient hindcast-bot --connect 127.0.0.1:9 --duration 1
impatient=$pid
check "all join one server" await shows "$work/left_alone.err" " joined " 4
check "all join the other server" await shows "$work/vanishing_server.err" " joined " 3
check "one joins a server with --timeout 1 --linger 0" await shows "$work/hasty.err" " joined " 1
sleep 1.5
kill -9 "$vanishing" "$vanishing_server" "$brief"
finish "$brief"
check "that server drops a killed bot" await shows "$work/hasty.err" " timeout " 1
kill -TERM "$hasty"
finish "$hasty"
check "it did not wait for it" test "$(grep -c " lost " "$work/hasty.err")" = 0
check "its place was free before the 40 s of the defaults" report hasty \
    's["timeouts"] == 1 and r["ticks"] + s["ticks_missed"] < 40 * 60'
finish "$vanishing"
finish "$vanishing_server"

finish "$orphans"
check "bots whose server was killed exit with 1" test "$status" = 1
check "they print that it is gone" grep -q "gave up: the server at 127.0.0.1:$orphans_port is gone" \
    "$work/orphans.err"
check "they still print their report" report orphans 'c["timeouts"] == 3 and c["snapshots"] > 0'
finish "$lonely"
check "a bot without any server exits with 1" test "$status" = 1
check "it prints that no server answers" grep -q "no server answers at 127.0.0.1:9" "$work/lonely.err"

finish "$impatient"
check "also if its duration ends first" test "$status" = 1
check "the server of the killed bot logs that it is lost" await shows "$work/left_alone.err" " lost " 1
check "the server logs the timeout of its players" await shows "$work/left_alone.err" " timeout " 1
kill -TERM "$others"
finish "$others"
check "the other bots kept playing" good others
kill -TERM "$left_alone"
finish "$left_alone"
check "the server ends with a good verdict" good left_alone
# It sent the killed bot fewer snapshots than another one.
check "the others received its snapshots, without a mismatch" report others \
    '(c["left"] == 3 and c["hash_mismatches"] == 0 and
     c["snapshots"] > 0.7 * of("left_alone")["server"]["snapshots"] > 0)'
check "the server simulated or missed as many ticks as fit in its duration" report left_alone \
    '0.8 < (r["ticks"] + s["ticks_missed"]) / (r["duration_ms"] / 1000 * r["tick_rate_hz"]) < 1.02'
check "it counted one timeout" report left_alone 's["timeouts"] == 1 and s["joins"] == 4'
end
