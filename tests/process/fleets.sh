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
configures() {
    mkdir "$work/src"
    sed -n 's/^!//p' "$here/../../.dockerignore" | while read -r path; do
        mkdir -p "$work/src/$(dirname "$path")" && cp -r "$here/../../$path" "$work/src/$path" || exit 1
    done
    cmake -S "$work/src" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHC_TESTS=OFF &&
        ninja -C "$work/build" -n hindcastd hindcastctl
}
check "the sources that the image is sent are enough for its programs" configures
end
