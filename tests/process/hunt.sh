#!/bin/sh
# A long hunt for seeds that fail goes on where it was, and plays none twice.
set -u
. "$(dirname "$0")/lib.inc"

# hunts RANGE TOTAL: of these seeds those are played that have not been, which makes so many in all.
hunts() {
    "$bin/hc_storm" --seeds "$1" --jobs 2 --state "$work/state" || return 1
    cat "$work/state"
    grep -qx "seeds $2" "$work/state"
}

check "seeds are played" hunts 1..20 20
check "of more, those that are missing" hunts 1..30 30
check "of the same none" hunts 1..30 30
check "and others as well" hunts 101..105 35
check "of some between, those that are missing" hunts 96..110 45
check "and none of these again" hunts 91..110 50
end
