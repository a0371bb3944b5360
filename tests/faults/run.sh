#!/bin/sh
# Plants faults into a copy of the sources and checks that the exactness program finds each:
#
#     sh tests/faults/run.sh [HISTORIES]     at most so many histories for each fault (default 1000)
set -eu
exec python3 "$(dirname "$0")/timeline.py" "$@"
