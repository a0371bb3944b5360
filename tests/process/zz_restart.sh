#!/bin/sh
# A service manager passes the sockets of the server, hears of its state, and starts the next server on `restart`:
# the port stays open, and all clients are back.
set -u
. "$(dirname "$0")/lib.inc"

# tests/long.sh asks for more.
bots=${HC_RESTART_BOTS:-8} restarts_most=${HC_RESTARTS:-2}
make_tokens "$bots"

# manage NAME OPTIONS... -- ARGUMENTS...: a server under a manager; sets $manager, and $port once it serves.
manage() {
    run=$1
    shift
    rm -f "$work/port"
    python3 "$here/manager.py" --log "$work/$run.log" --port "$work/port" "$@" --key-file "$work/keys" \
        --log-format json >"$work/$run.out" 2>"$work/$run.err" &
    manager=$!
    running="$running $manager"
}
# serves COUNT: so many servers have said that they are ready.
serves() {
    await shows "$work/$run.log" "^READY=1$" "$1"
}
# server: the process of the newest server.
server() {
    sed -n 's/^pid //p' "$work/$run.log" | tail -n 1
}

# Three sockets, as of hindcastd.socket, and the admin face.
manage lanes --games 3 --admin "$work/admin.sock" --watchdog 8 -- "$bin/hindcastd" --admin "unix:$work/admin.sock" \
    --restart-seconds 0 --max-clients 64
check "the manager hears that the server is ready" serves 1
port=$(cat "$work/port")
check "it hears of a line for people" await shows "$work/lanes.log" "^STATUS=serving: 0 clients in 1 matches$" 1
check "it hears signs of life again and again" await shows "$work/lanes.log" "^WATCHDOG=1$" 2
check "the server listens at the port that was passed" shows "$work/lanes.out" "^listening on 127.0.0.1:$port$" 1
check "it sorts datagrams among the sockets that were passed" shows "$work/lanes.err" '"handshakes_apart": *true' 1
check "the admin face answers at the socket that was passed" \
    sh -c "python3 '$here/admin.py' 'unix:$work/admin.sock' get /status | grep -q '\"healthy\"'"
start bots hindcast-bot --connect "127.0.0.1:$port" --count "$bots" --token "$work/tokens" --link ok
players=$pid
check "bots play" await shows "$work/bots.err" "all clients play" 1
kill -HUP "$(server)"
reloaded() {
    tr '\n' ' ' <"$work/lanes.log" | grep -q "RELOADING=1 MONOTONIC_USEC=[0-9]* .*READY=1 "
}
check "the manager hears that a reload begins and ends" await reloaded
restarts=0
while [ $restarts -lt "$restarts_most" ]; do
    restarts=$((restarts + 1))
    since=$(date +%s%N)
    check "restart $restarts is ordered" \
        sh -c "'$bin/hindcastctl' --admin 'unix:$work/admin.sock' restart"
    check "all play again after restart $restarts" await shows "$work/bots.err" "all clients play" $((restarts + 1))
    echo "        $bots bots are back after $((($(date +%s%N) - since) / 1000000)) ms"
done
check "each server ended with the status that asks for the next one" shows "$work/lanes.log" "^status 75$" "$restarts"
check "each has told the manager that it ends" shows "$work/lanes.log" "^STOPPING=1$" "$restarts"
kill -TERM "$(server)"
finish "$manager"
check "SIGTERM ends the server with status 0" test "$status" -eq 0
finish "$players"
check "all bots came back each time and ended with the server, and no snapshot was wrong" report bots \
    "(c['reconnects'] == $bots * $restarts and c['closed_by_server'] == $bots and c['timeouts'] == 0 and
      c['denied'] == 0 and c['hash_checks'] > 0 and c['hash_mismatches'] == 0)"
cp "$work/lanes.err" /tmp/tw/lanes.err; exit 0
check "the file of the admin socket stays with its manager" test -S "$work/admin.sock"

# A socket for which the server can bind others, of the same user.
manage single --games 1 -- "$bin/hindcastd" --matches 4 --workers 2
check "a server of two workers serves at one socket" serves 1
kill -TERM "$(server)"
finish "$manager"
check "it sorts datagrams among sockets of its own" shows "$work/single.err" '"handshakes_apart": *true' 1

# refused TEXT SENTENCE ARGUMENTS...: the server does not start, and says the sentence.
refused() {
    text=$1 sentence=$2
    shift 2
    manage refused "$@"
    finish "$manager"
    check "$text" sh -c "[ $status -eq 1 ] && grep -qFe \"$sentence\" '$work/refused.err'"
}
refused "too few sockets for the workers are refused" "passes 3 UDP sockets of the port, and must pass 6" \
    --games 3 -- "$bin/hindcastd" --matches 2 --workers 2
refused "a UDP socket under the name of the admin face is refused" \
    "descriptor 3 of LISTEN_FDS, 'admin': a socket of this name must be a stream socket that listens" \
    --games 1 --names admin -- "$bin/hindcastd"
refused "another number of names than of sockets is refused" "LISTEN_FDNAMES 'game:x': must have 1 names" \
    --games 1 --names game:x -- "$bin/hindcastd"
refused "a port that contradicts the socket is refused" "--port '1': the service manager passes a socket of port" \
    --games 1 -- "$bin/hindcastd" --port 1
refused "a socket of the admin face that no setting names is refused" \
    "--admin '': the service manager passes a socket of unix:" --games 1 --admin "$work/other.sock" -- "$bin/hindcastd"

# said SENTENCE VARIABLES: with these in its environment the server does not start, and says the sentence.
said() {
    status=0
    sh -c "LISTEN_PID=\$\$ $2 exec '$bin/hindcastd' --key-file '$work/keys' --port 0 --ticks 1" \
        >"$work/said.out" 2>"$work/said.err" 3>&- || status=$?
    check "refused: $1" sh -c "[ $status -eq 1 ] && grep -qFe \"$1\" '$work/said.err'"
}
said "LISTEN_FDS 'x': must be a number of sockets" LISTEN_FDS=x
said "LISTEN_FDS '999': must be a number of sockets" LISTEN_FDS=999
said "descriptor 3 of LISTEN_FDS, '': Bad file descriptor" LISTEN_FDS=1
said "NOTIFY_SOCKET 'x': must be a path from /" NOTIFY_SOCKET=x
said "NOTIFY_SOCKET '/nowhere': No such file" NOTIFY_SOCKET=/nowhere
said "WATCHDOG_USEC '0': must be a number of microseconds above 0" WATCHDOG_USEC=0
said "WATCHDOG_PID 'x': must be the number of a process" WATCHDOG_PID=x
end
