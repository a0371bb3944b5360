#!/bin/sh
# How much of each file that parses the stored inputs reach:  sh tests/fuzz/coverage.sh [CORPORA]
#
# Builds the fuzz programs with clang's source-based coverage into build/coverage, replays CORPORA
# (tests/fuzz/corpus), and prints a line for each file. Fails when one is reached for less than 95 %.
set -eu
cd "$(dirname "$0")/../.."

corpora=${1:-tests/fuzz/corpus}
build=build/coverage
jobs=$(nproc 2>/dev/null || echo 2)

targets=""
for source in tests/fuzz/fuzz_*.c; do
    name=${source##*/}
    targets="$targets ${name%.c}"
done

log=$build.log
mkdir -p build
{
    cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=None \
        -DHC_VALIDATE=OFF -DHC_WERROR=ON -DHC_INSTALL=OFF \
        -DCMAKE_C_FLAGS="-fprofile-instr-generate -fcoverage-mapping"
    # shellcheck disable=SC2086 # a list of words
    cmake --build "$build" -j "$jobs" -t $targets
} >"$log" 2>&1 || {
    cat "$log"
    exit 1
}

objects=""
rm -f "$build"/*.profraw
for target in $targets; do
    [ -d "$corpora/${target#fuzz_}" ] || continue
    LLVM_PROFILE_FILE=$build/$target.profraw "$build/bin/$target" "$corpora/${target#fuzz_}" \
        >"$log" 2>&1 || {
        tail -n 20 "$log"
        exit 1
    }
    objects="$objects -object $build/bin/$target"
done
llvm-profdata merge -sparse "$build"/*.profraw -o "$build/all.profdata"
# The programs differ in what their linker kept of inline functions; that is not an error.
# shellcheck disable=SC2086 # a list of words
llvm-cov export -format=lcov -instr-profile="$build/all.profdata" $objects >"$build/all.lcov" \
    2>"$log" || {
    cat "$log"
    exit 1
}
python3 tests/fuzz/coverage.py "$build/all.lcov"
