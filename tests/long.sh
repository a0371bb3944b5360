#!/bin/sh
# What tests/run.sh does, for hours instead of minutes:  sh tests/long.sh [FUZZ_SECONDS]
#
# 20,000 random histories instead of 2,000, and FUZZ_SECONDS (default 900) for each fuzz program.
set -eu
cd "$(dirname "$0")/.."
HC_HISTORIES=20000
HC_FUZZ_SECONDS=${1:-900}
export HC_HISTORIES HC_FUZZ_SECONDS
exec sh tests/run.sh
