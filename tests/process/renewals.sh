#!/bin/sh
# Matches that end give their memory back whole: a daemon whose matches are played again and again holds
# no more than after the first times, and no more than its report says.
set -u
HC_LIMIT=400
. "$(dirname "$0")/lib.inc"

serve many --matches 16 --max-clients 4
many=$pid
resident() {
    sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/$many/status"
}
# play ROUND: fills all matches, and waits until each has another world.
play() {
    start round hindcast-load --connect "127.0.0.1:$port" --clients 0 --light 64 --duration 1
    finish "$pid"
    await shows "$work/many.err" " match-renewed " $((16 * $1))
}

begun=$(resident)
for round in 1 2; do
    check "all matches are renewed after round $round" play $round
done
early=$(resident)
for round in 3 4 5 6; do
    check "all matches are renewed after round $round" play $round
done
late=$(resident)
echo "        resident: $begun kB when it began, $early after 2 rounds, $late after 6"
check "four more rounds take no more memory" test "$late" -le $((early + early / 8))
kill -TERM "$many"
finish "$many"
check "the report's memory is at least what the matches hold" report many \
    "s['memory_bytes'] >= 1024 * ($late - $begun)"
check "the report counts the resident memory" report many "s['resident_bytes'] > 0"
end
