#!/bin/sh
# Plays the same matches here and on other machines, and prints the machines that compute the same: whose
# worlds, chains, counts and datagrams are equal to this one's, byte for byte.
#
#     sh tests/machines/run.sh                 on all of them
#     sh tests/machines/run.sh s390x mingw     on some: clang i686 aarch64 s390x musl mingw
#
# On Debian, as root, it first installs what it needs. A machine for which this system lacks something is
# SKIPPED, and its line says why. The build of a machine stays in build/machines/MACHINE, with a toolchain
# file for CMake. Exit status: 0 all that ran are equal, 1 one is not, 77 none could run.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD
jobs=$(nproc 2>/dev/null || echo 2)
machines="clang i686 aarch64 s390x musl mingw"
lacking=77

# choose MACHINE: sets what is known about it.
choose() {
    compiler=$1-linux-gnu-gcc processor=$1 system=Linux debian="" host="" runner=""
    case $1 in
    clang) compiler=clang ;;
    i686) debian=i386 runner=qemu-i386-static ;; # not every kernel runs it
    aarch64) debian=arm64 runner=qemu-aarch64-static ;;
    s390x) debian=s390x runner=qemu-s390x-static ;;
    musl) compiler=musl-gcc processor=x86_64 host=x86_64-linux-musl ;;
    mingw) compiler=x86_64-w64-mingw32-gcc processor=x86_64 system=Windows host=x86_64-w64-mingw32 runner=wine64 ;;
    *)
        echo "run.sh: unknown machine '$1'; there are: $machines" >&2
        exit 2
        ;;
    esac
}

# Debian has no wine64 in PATH without 32-bit Windows.
PATH=$PATH:/usr/lib/wine
export WINEDEBUG=-all WINEPREFIX="$here/build/machines/mingw/wine" CK_DEFAULT_TIMEOUT=1500

# prepare MACHINE: its libraries and its toolchain file; says what is missing.
prepare() {
    for program in $compiler $runner; do
        command -v "$program" >/dev/null || { echo "$program is missing" && return $lacking; }
    done
    folder=build/machines/$1
    mkdir -p "$folder"
    cat >"$folder/toolchain.cmake" <<CMAKE
set(CMAKE_C_COMPILER $compiler)
CMAKE
    [ -n "$debian$host" ] || return 0
    cat >>"$folder/toolchain.cmake" <<CMAKE
set(CMAKE_SYSTEM_NAME $system)
set(CMAKE_SYSTEM_PROCESSOR $processor)
set(CMAKE_CROSSCOMPILING_EMULATOR $runner)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH \${CMAKE_CURRENT_LIST_DIR}/sysroot)
file(GLOB pkgconfig \${CMAKE_CURRENT_LIST_DIR}/sysroot/usr/lib/*/pkgconfig)
set(ENV{PKG_CONFIG_LIBDIR} \${CMAKE_CURRENT_LIST_DIR}/sysroot/usr/lib/pkgconfig:\${pkgconfig})
CMAKE
    command -v apt-get >/dev/null || { echo "its libraries come from Debian's packages" && return $lacking; }
    if [ -n "$debian" ]; then
        sh tests/machines/sysroot.sh "$folder" debian "$debian"
    else
        sh tests/machines/sysroot.sh "$folder" source "$host" "$compiler"
    fi >"$folder/sysroot.log" 2>&1 || { echo "its libraries cannot be had: $folder/sysroot.log" && return $lacking; }
}

# build MACHINE: its matches; where there is Check, the tests that compare encodings; and the DLLs.
build() {
    programs=OFF install=OFF tests="" targets=hc_matches
    [ -z "$debian" ] || programs=ON tests="test_proto_value test_proto_delta" targets="hc_matches $tests"
    [ "$system" != Windows ] || install=ON tests=offline targets=all
    # Optimised, but quick to build.
    cmake -S . -B "build/machines/$1/build" -G Ninja --toolchain "$here/build/machines/$1/toolchain.cmake" \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DHC_WERROR=ON -DHC_INSTALL=$install \
        "-DHC_PROGRAMS=$programs" "-DCMAKE_INSTALL_PREFIX=$here/build/machines/$1/prefix" &&
        cmake --build "build/machines/$1/build" -j "$jobs" --target $targets
}

# play_offline MACHINE: examples/offline with the installed DLLs, as a game's developer builds it, prints
# what it prints here.
play_offline() {
    root=$here/build/machines/$1
    cmake --install "$root/build" &&
        cmake -S examples/offline -B "$root/offline" -G Ninja --toolchain "$root/toolchain.cmake" \
            "-Dhindcast_DIR=$root/prefix/lib/cmake/hindcast" &&
        cmake --build "$root/offline" &&
        WINEPATH="$root/prefix/bin" $runner "$root/offline/offline.exe" | tr -d '\r' >"$root/offline.txt" &&
        cmake --build --preset release --target hindcast_static hindcast_server_static &&
        gcc -Iinclude -o "$root/offline_here" examples/offline/offline.c build/release/libhindcast.a \
            build/release/libhindcast-server.a $(pkg-config --libs libsodium libxxhash msgpack) &&
        "$root/offline_here" | cmp - "$root/offline.txt"
}

# run_tests MACHINE
run_tests() {
    for test in $tests; do
        case $test in
        offline) play_offline "$1" ;;
        *) $runner "build/machines/$1/build/tests/$test" ;;
        esac || return 1
    done
}

# compare MACHINE: prints the rest of its line.
compare() {
    folder=build/machines/$1
    why=$(prepare "$1") || { echo "SKIPPED: $why" && return $lacking; }
    build "$1" >"$folder/build.log" 2>&1 || { echo "does not build: $folder/build.log" && return 1; }
    program=$(ls "$folder"/build/bin/hc_matches*)
    $runner "$program" 2>"$folder/matches.log" | tr -d '\r' >"$folder/matches.txt"
    equal=$(grep -cxFf build/machines/matches.txt "$folder/matches.txt") || true
    printf '%s of %s matches equal' "$equal" "$(wc -l <build/machines/matches.txt)"
    if ! run_tests "$1" >"$folder/tests.log" 2>&1; then
        echo ", but $test fails: $folder/tests.log"
        return 1
    fi
    echo "${tests:+, $tests pass}"
    cmp -s build/machines/matches.txt "$folder/matches.txt"
}

# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $machines
wanted=tests
for machine in "$@"; do
    choose "$machine"
    case $machine in
    clang | s390x) ;;
    *) wanted=machines ;;
    esac
done
sh deploy/install.sh "$wanted" || echo "Packages are missing, which may be needed."

mkdir -p build/machines
{
    cmake --preset release -DHC_TESTS=ON && cmake --build --preset release -j "$jobs" --target hc_matches
} >build/machines/build.log 2>&1 || { cat build/machines/build.log && exit 1; }
build/release/bin/hc_matches >build/machines/matches.txt

printf '%-10s %-26s %s\n' machine compiler result
printf '%-10s %-26s %s\n' "$(uname -m)" "gcc" "$(wc -l <build/machines/matches.txt) matches"
ran=0 different=0
for machine in "$@"; do
    choose "$machine"
    printf '%-10s %-26s ' "$machine" "$compiler"
    status=0
    compare "$machine" || status=$?
    case $status in
    0) ran=$((ran + 1)) ;;
    "$lacking") ;;
    *) different=$((different + 1)) ;;
    esac
done
[ "$different" -eq 0 ] || exit 1
[ "$ran" -gt 0 ] || exit $lacking
