#!/bin/sh
# Makes FOLDER/sysroot, with the headers and static libraries that Hindcast is linked with:
#
#     sh tests/machines/sysroot.sh FOLDER debian ARCHITECTURE      of Debian's packages, unpacked there
#     sh tests/machines/sysroot.sh FOLDER source HOST COMPILER     built of Debian's sources
#
# The system's own packages and architectures stay as they are. It does nothing if the folder is there.
set -eu
from=$(dirname "$0")/sysroot.sh
mkdir -p "$1"
folder=$(cd "$1" && pwd) kind=$2 target=$3
sysroot=$folder/sysroot
packages="libsodium-dev libmsgpack-dev libxxhash-dev libevent-dev libjansson-dev libinih-dev check libsubunit-dev"
sources="libsodium msgpack-c xxhash"

stamp=$(cksum <"$from")
[ "$(cat "$sysroot/made" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$sysroot" "$folder/apt"
mkdir -p "$sysroot/usr/lib/pkgconfig" "$folder/apt/lists/partial" "$folder/apt/archives/partial"
: >"$folder/apt/status"

# mirror WORD: lines of sources.list for the system's own release and mirror.
mirror() {
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    apt-get indextargets --format "$1 [signed-by=$keyring] \$(SITE) \$(RELEASE) main" \
        "Created-By: Packages" "Release: $codename" "Origin: Debian" "Component: main" | sort -u
}

# private_apt ARCHITECTURE WORDS...: apt-get with lists and a state of its own.
private_apt() {
    architecture=$1
    shift
    apt-get -q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" \
        -o APT::Sandbox::User=root -o "Dir::State=$folder/apt" -o "Dir::State::status=$folder/apt/status" \
        -o "Dir::Cache=$folder/apt" -o "Dir::Etc::sourcelist=$folder/apt/sources.list" \
        -o Dir::Etc::sourceparts=/nonexistent "$@"
}

# fetch_lists WORD ARCHITECTURE
fetch_lists() {
    mirror "$1" >"$folder/apt/sources.list"
    if [ ! -s "$folder/apt/sources.list" ]; then # the system has no lists itself
        apt-get update -q
        mirror "$1" >"$folder/apt/sources.list"
    fi
    private_apt "$2" update
}

# build_autotools FOLDER OPTIONS...
build_autotools() {
    (cd "$1" && shift && autoreconf -i && ./configure --prefix="$sysroot/usr" "$@" && make -j "$(nproc)" && make install)
}

# build_cmake FOLDER OPTIONS...
build_cmake() {
    source=$1
    shift
    cmake -S "$source" -B "$source/build" -G Ninja --toolchain "$folder/toolchain.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$sysroot/usr" -DCMAKE_INSTALL_LIBDIR=lib \
        -DBUILD_SHARED_LIBS=OFF "$@" && cmake --build "$source/build" && cmake --install "$source/build"
}

cd "$folder/apt"
case $kind in
debian)
    fetch_lists deb "$target"
    # shellcheck disable=SC2086 # a list of words
    private_apt "$target" download $packages
    for package in *.deb; do
        dpkg -x "$package" "$sysroot"
    done
    ;;
source)
    compiler=$4
    fetch_lists deb-src "$(dpkg --print-architecture)"
    # shellcheck disable=SC2086 # a list of words
    private_apt "$(dpkg --print-architecture)" source $sources
    build_autotools libsodium-*/ --host="$target" CC="$compiler" --disable-shared --enable-static \
        --disable-dependency-tracking
    # It names C++, and has none.
    build_cmake msgpack-c-*/ -DMSGPACK_BUILD_EXAMPLES=OFF -DMSGPACK_BUILD_TESTS=OFF \
        -DCMAKE_CXX_COMPILER_WORKS=TRUE
    build_cmake xxhash-*/cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF
    ;;
esac
# All lies in the sysroot, not in the system.
find "$sysroot" -name '*.pc' -exec sed -i "s|^prefix=.*|prefix=$sysroot/usr|" {} +
if [ "${target##*-}" = mingw32 ]; then # its header has to know that the library is no DLL
    sed -i 's/^Cflags:.*/& -DSODIUM_STATIC/' "$sysroot/usr/lib/pkgconfig/libsodium.pc"
fi
echo "$stamp" >"$sysroot/made"
rm -rf "$folder/apt"
