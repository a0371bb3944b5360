#!/bin/sh
# What deploy/ has for clusters agrees with itself, with the programs, and with the documented fields of Agones.
# tests/manifests.sh compares the rest with the schemas of Kubernetes.
set -u
. "$(dirname "$0")/lib.inc"

make_tokens 1
check "Agones knows all fields of its manifests" \
    python3 "$here/fleets.py" "$bin/hindcastd" "$bin/hindcastctl" "$work" schemas
check "numbers and names agree between the manifests" \
    python3 "$here/fleets.py" "$bin/hindcastd" "$bin/hindcastctl" "$work" agree
check "the server takes the arguments of each manifest" \
    python3 "$here/fleets.py" "$bin/hindcastd" "$bin/hindcastctl" "$work" starts
check "probes and hooks are commands" \
    python3 "$here/fleets.py" "$bin/hindcastd" "$bin/hindcastctl" "$work" commands
check "the image has the libraries of the programs, and no root" \
    python3 "$here/fleets.py" "$bin/hindcastd" "$bin/hindcastctl" "$work" image
end
