#!/bin/sh
# Plants faults into a copy of the sources and has hc_storm find each:
#
#     sh tests/storm/faults.sh [SEEDS] [NAME...]     at most so many for each (default 2000)
set -eu
exec python3 "$(dirname "$0")/faults.py" "$@"
