#!/bin/sh
# A long search for failing seeds resumes where it stopped, and plays no seed twice.
set -u
. "$(dirname "$0")/lib.inc"

# hunts RANGE TOTAL: plays the seeds of RANGE that were not played yet; TOTAL have been played then.
hunts() {
    "$bin/hc_storm" --seeds "$1" --jobs 2 --state "$work/state" || return 1
    cat "$work/state"
    grep -qx "seeds $2" "$work/state"
}

check "seeds are played" hunts 1..20 20
check "a larger range plays only its missing seeds" hunts 1..30 30
check "the same range plays none" hunts 1..30 30
check "a separate range is played" hunts 101..105 35
check "an overlapping range plays only its missing seeds" hunts 96..110 45
check "a larger overlapping range plays none of them again" hunts 91..110 50
end
