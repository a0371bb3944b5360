#!/bin/sh
# Thousands of users join one server one after another: nobody is denied, and the server's memory does
# not grow. HC_JOINS joins: 100,000 in tests/long.sh.
set -u
. "$(dirname "$0")/lib.inc"

: "${HC_JOINS:=8000}"
AWAIT=800
serve server --max-clients 64 --log-format json --log-level warn
server=$pid
start load hindcast-load --connect "127.0.0.1:$port" --light 40 --churn 500 --ramp 1 --duration 3600
load=$pid

joins() {
    kill -USR1 "$server"
    sleep 1
    sed -n 's/.*"joins": *\([0-9]*\).*/\1/p' "$work/server.err" | sort -n | tail -n 1
}
joined() {
    kill -0 "$load" && [ "$(joins)" -ge "$1" ]
}
resident_kb() {
    sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status"
}
first=$((HC_JOINS / 10))
[ "$first" -ge 5000 ] || first=5000 # more than are remembered
check "$first users join" await joined "$first"
before=$(resident_kb)
check "$HC_JOINS users join" await joined "$HC_JOINS"
after=$(resident_kb)
kill -TERM "$load"
finish "$load"
kill -TERM "$server"
finish "$server"
echo "        resident after $first: $before kB, after $HC_JOINS: $after kB"
check "nobody is denied" report server 's["denied"] == 0 and s["timeouts"] == 0'
check "the load test was denied nowhere" report load 'r["load"] is not None and c["denied"] == 0 and c["timeouts"] == 0'
check "the oldest users are forgotten" report server \
    's["remembered_users"]["forgotten"] >= s["joins"] - s["remembered_users"]["capacity"] - 200'
check "memory does not grow" test $((after - before)) -le 4096
check "the log says once that users are forgotten" sh -c \
    "[ \"\$(grep -c 'remembered-users-full' '$work/server.err')\" = 1 ]"
end
