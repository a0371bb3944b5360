#!/bin/sh
# Builds Hindcast, starts hindcastd, makes eight bots play over a bad link, and prints the report.
#
#     sh deploy/quickstart.sh [good|ok|bad|awful] [--duration SECONDS]
#
# As root on Debian 12 it first installs the packages that it needs. Afterwards `cmake --build
# build/release` and `cmake --install build/release --prefix DIRECTORY` work too.
set -eu
cd "$(dirname "$0")/.."

link=bad duration=20
syntax="[good|ok|bad|awful] [--duration SECONDS]"
usage() {
    echo "quickstart.sh: $1; it takes $syntax" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
    good | ok | bad | awful) link=$1 ;;
    --help)
        echo "sh deploy/quickstart.sh $syntax: builds, starts a server, makes eight bots play, and reports"
        exit 0
        ;;
    --link)
        [ $# -ge 2 ] || usage "--link: needs good, ok, bad or awful"
        case $2 in
        good | ok | bad | awful) link=$2 ;;
        *) usage "--link '$2': must be good, ok, bad or awful" ;;
        esac
        shift
        ;;
    --duration)
        [ $# -ge 2 ] || usage "--duration: needs a number of seconds"
        duration=$2
        shift
        ;;
    --duration=*) duration=${1#*=} ;;
    *) usage "unknown argument '$1'" ;;
    esac
    shift
done
case $duration in
*[!0-9]* | "" | 0*) usage "--duration '$duration': must be a whole number from 1" ;;
esac

# quietly TEXT COMMAND...: prints the output of the command only if it fails.
log=build/quickstart.log
quietly() {
    printf '%s ... ' "$1"
    shift
    begin=$(date +%s)
    if ! "$@" >"$log" 2>&1; then
        echo "FAILED"
        cat "$log"
        exit 1
    fi
    echo "$(($(date +%s) - begin)) s"
}

mkdir -p build
quietly "Installing packages" sh deploy/install.sh
# The tests need more packages. They stay off in this directory until it is configured again.
quietly "Configuring the release build" cmake --preset release -DHC_TESTS=OFF
quietly "Building" cmake --build --preset release

bin=build/release/bin
table=build/quickstart.txt
printf '%s\n\n' "Playing: hindcastd on 127.0.0.1, 8 bots, each over its own link ($link), $duration s"
status=0
"$bin/hindcast-load" --spawn --clients 8 --duration "$duration" --link "$link" --json build/quickstart.json \
    >"$table" || status=$?
sed -n '1,3p; /^  \(round trip\|bandwidth\|inputs\|rewinds\|rollbacks\|snapshots\|over budget\|processor\)  /p' "$table"
cat <<END

The whole report: $table, and as JSON build/quickstart.json; docs/REPORT.md explains each line.
A server of your own: $bin/hindcastd --dev
Bots for it: $bin/hindcast-bot --connect 127.0.0.1:40000 --count 4
To see each rewind: open docs/storm.html in a browser
To install: cmake --install build/release --prefix DIRECTORY
END
exit $status
