#!/bin/sh
# Compares the processor time of hindcastd, with the arena, with that of a server over ENet without any
# game and without encryption, for datagrams of the same sizes:
#
#     sh tests/bench/enet/compare.sh [CLIENTS] [SECONDS]
#
# It needs the packages libenet-dev and gcc, and build/release (sh tests/run.sh build).
set -eu
cd "$(dirname "$0")/../../.."

clients=${1:-64} seconds=${2:-5}
bin=build/release/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=gnu17 -O3 -o "$work/enet_echo" tests/bench/enet/echo.c -lenet

# The arena with about 8 others in view, at distances of 20 to 100 ms.
"$bin/hindcastd" --dev --bind 127.0.0.1 --port 0 --view 2500 --max-clients "$clients" --log-level error \
    --json "$work/arena.json" >"$work/out" &
server=$!
until port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$work/out") && [ -n "$port" ]; do sleep 0.1; done
"$bin/hindcast-load" --connect "127.0.0.1:$port" --clients 0 --light "$clients" --processes 1 --duration "$seconds" \
    --latency 20 --latency-to 100 --jitter 2 >"$work/load" || :
kill -TERM "$server"
wait "$server" || :
head -n 1 "$work/load"

set -- $(python3 - "$work/arena.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
s = r["server"]
headers = r["bytes_overhead_per_datagram"]
up = r["bytes_up_per_client_s"] * s["client_ticks"] / r["tick_rate_hz"] / s["datagrams_received"] - headers
print(round(up), round(s["bytes_sent"] / s["datagrams_sent"]), "%.2f" % s["cpu_us_per_client_tick"],
      s["snapshots"], s["overload"]["snapshots_left_out"])
END
)
echo "$clients clients at 60 Hz, datagrams of $1 bytes up and $2 bytes down"
echo "hindcastd with the arena: $3 us for each client and tick; $4 snapshots, and $5 left out"
echo "ENet without a game:"
"$work/enet_echo" "$clients" "$seconds" "$1" "$2" | sed 's/^/    /'
