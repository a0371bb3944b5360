#!/bin/sh
# A wall clock that is set an hour or a day ahead, or an hour back, and right again, disturbs no player
# and keeps nobody out.
set -u
. "$(dirname "$0")/lib.inc"

keys=$work/keys
export HC_CLOCK_FILE="$work/ahead"
cc -std=c17 -shared -fPIC -o "$work/clock.so" "$here/clock.c" || exit 1
"$bin/hindcastd" key --key-file "$keys" >"$work/out"
# tokens NAME COUNT ID: tokens by a clock that is right.
tokens() {
    "$bin/hindcastd" token --key-file "$keys" --count "$2" --client-id "$3" >"$work/$1"
}
# set_clock SECONDS: sets the server's wall clock so far ahead.
set_clock() {
    echo "$1" >"$work/ahead.new"
    mv "$work/ahead.new" "$work/ahead"
}
logged() {
    shows "$work/server.err" "\"$1\"" "$2"
}

set_clock 0
export LD_PRELOAD="$work/clock.so"
serve_with server --key-file "$keys" --port 0 --max-clients 20 --log-format json
unset LD_PRELOAD
server=$pid
tokens tokens 16 100
start players hindcast-bot --connect "127.0.0.1:$port" --count 16 --token "$work/tokens"
players=$pid
check "16 players play" await logged joined 16

# join NUMBER: a newcomer with a token of now plays for a second.
join() {
    tokens "tokens$1" 1 "$1"
    start "newcomer$1" hindcast-bot --connect "127.0.0.1:$port" --token "$work/tokens$1" --duration 1
    finish "$pid"
    report "newcomer$1" 'c["accepted"] == 1'
}

steps=0
for seconds in 3600 86400 -3600; do
    steps=$((steps + 1))
    set_clock "$seconds"
    check "the log says that the clock was set by $seconds s" await logged clock-stepped "$steps"
    check "a newcomer gets in meanwhile" join "$((200 + steps))"
    set_clock 0
    check "the log says that the clock is right" await logged clock-right "$steps"
    check "a newcomer gets in at once" join "$((300 + steps))"
done
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict" good server
finish "$players"
check "no player lost its connection" report players 'c["reconnects"] == 0 and c["accepted"] == 16'
check "nobody was denied" report server 's["denied"] == 0 and s["joins"] == 22'
exactly() {
    [ "$(grep -c "\"$1\"" "$work/server.err")" -eq "$steps" ]
}
check "each step has one line in the log" exactly clock-stepped
check "each correction has one line in the log" exactly clock-right
end
