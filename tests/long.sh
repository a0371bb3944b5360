#!/bin/sh
# Runs the stages of tests/run.sh for hours instead of minutes:  sh tests/long.sh [FUZZ_SECONDS [STAGE...]]
#
# Long plays in asan too, 20,000 random histories instead of 2,000, an hour of random matches in release
# and another in asan instead of minutes, FUZZ_SECONDS (default 900) for each fuzz program, 100,000 joins
# instead of 8,000, 20 restarts of 64 players instead of 2 of 8, all planted faults and 100 mutants, the
# alerts and the dashboard by Prometheus, pages in Chromium, and the same matches on all machines of
# tests/machines/run.sh. An hour for each fuzz program, and nothing else: sh tests/long.sh 3600 build fuzz
set -eu
cd "$(dirname "$0")/.."
HC_LONG_PLAYS=yes
HC_HISTORIES=20000
HC_STORM_MINUTES=60
HC_FUZZ_SECONDS=${1:-900}
HC_JOINS=100000
HC_INSTALL="prometheus lintian browser"
HC_RESTARTS=20
HC_RESTART_BOTS=64
HC_MACHINES="clang i686 aarch64 s390x musl mingw"
export HC_RESTARTS HC_RESTART_BOTS HC_INSTALL HC_JOINS HC_MACHINES HC_LONG_PLAYS HC_STORM_MINUTES HC_HISTORIES HC_FUZZ_SECONDS
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- install build tidy unit exact storm fuzz processes machines web browser manifests planted
exec sh tests/run.sh "$@"
