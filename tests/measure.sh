#!/bin/sh
# Measures every figure of docs/MEASUREMENTS.md and writes that file:  sh tests/measure.sh [OUT]
#
# It takes about 20 minutes, and refuses to begin on a machine that does something else. Each figure
# stands under the command that printed it. The release programs must be built: sh tests/run.sh build
set -eu
cd "$(dirname "$0")/.."

bin=build/release/bin
out=${1:-docs/MEASUREMENTS.md}
draft=build/measurements.md
[ -x "$bin/hc_bench" ] || {
    echo "measure.sh: $bin/hc_bench is missing: sh tests/run.sh build" >&2
    exit 1
}

load=$(cut -d ' ' -f 1 /proc/loadavg)
awk -v load="$load" 'BEGIN { exit load > 0.5 }' || {
    echo "measure.sh: the machine is not quiet (load average $load): wait" >&2
    exit 1
}

# figure TITLE TEXT COMMAND...: a section with each command and its output.
figure() {
    echo "measuring: $1" >&2
    printf '\n## %s\n\n%s\n' "$1" "$2"
    shift 2
    for command in "$@"; do
        printf '\n    $ %s\n' "$command"
        sh -c "$command" 2>&1 | grep -v '^ *$' | sed 's/^/    /'
    done
}

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
memory=$(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)
{
    cat <<END
# Measurements

\`sh tests/measure.sh\` wrote this file. The ratios carry over to other machines, the times do not.
How many clients a core holds: [CAPACITY.md](CAPACITY.md).

- machine: $(nproc) cores, $model, $memory
- system: $(uname -sr), $(${CC:-cc} --version | head -n 1)
- commit: $(git rev-parse --short HEAD), load average before: $load
END

    figure "Eight bots on each link" \
        "Eight bots play at 60 Hz for 20 s, with input delay 3 and lead 0, and with the default timing; bytes include 28 of IP and UDP for each datagram." \
        "python3 tests/measure_links.py $bin"
    figure "Prediction" \
        "A client at 150 ms each way predicts its own player. The server sends either the newest tick that has all of its inputs, or the server tick." \
        "$bin/hc_bench rubber-band"
    figure "Lag compensation" \
        "The share of shots that hit, of bots that aim at what their clients draw, and its ratio to that of 0 ms. The next two counts are inputs whose shown tick the server moved, and the last one is how many ticks behind their own players clients show others at the end." \
        "$bin/hc_bench aim"
    figure "Feel" \
        "Screens of a match in virtual time: when they show a key, how far off, and the bounds ([TIMING.md](TIMING.md) explains it)." \
        "$bin/hc_bench feel"
    figure "A plugin" \
        "The arena as a plugin, against the one that is built into the programs." \
        "$bin/hc_bench plugin --game $bin/../games/arena_plugin.so"
    figure "Snapshots" \
        "Bots turn and shoot at 80 ms there and back with 2 % loss; 61 bytes of each datagram are headers and seal. The picture's error stands beside the bytes." \
        "$bin/hc_bench snapshots"
    figure "A server's tick" \
        "A host alone repeats recorded matches. The floor opens and seals the same datagrams without a game." \
        "$bin/hc_bench server" \
        "$bin/hc_bench server --extrapolation linear"
    figure "A client's tick" \
        "One client of each of these matches, alone." \
        "$bin/hc_bench client"
    figure "Rewinds" \
        "Every input comes 9 ticks late. The run is compared with the game's own steps and with a server that simulates the whole world again." \
        "$bin/hc_bench timeline"
    figure "Rewinds of whole worlds, and selective ones" \
        "Whole worlds are compared with the same states kept in one array, with copies and steps by hand. run: the game also has step_run." \
        "$bin/hc_bench rewind"
    figure "Exactness" \
        "Selective resimulation, full resimulation, play in time and a run from scratch agree byte by byte." \
        "$bin/exact_histories --histories 20000 --jobs $(nproc)"
    figure "Faults planted in the timeline" \
        "Each is found by the exactness program after so many histories." \
        "sh tests/faults/run.sh"
    figure "Random matches" \
        "Each is drawn from one seed: settings, links, outages, crashes, hostile clients." \
        "$bin/hc_storm --seeds 1..4000"
    figure "Attacks" \
        "Every row is an attack with its bound." \
        "$bin/hc_attack"
    figure "Floods" \
        "Spoofed HELLOs come from the same cores for 14 s each while eight clients play and 40 others join, each within 10 s." \
        "$bin/hc_attack --only flood --flood"
} >"$draft"
mv "$draft" "$out"
