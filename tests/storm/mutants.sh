#!/bin/sh
# Makes 100 small mechanical changes to the sources, one at a time, and has hc_storm find them:
#
#     sh tests/storm/mutants.sh [OPTION...]     see --help; results are kept in build/mutants.json
set -eu
exec python3 "$(dirname "$0")/mutants.py" "$@"
