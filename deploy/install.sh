#!/bin/sh
# Installs the Debian 12 packages that Hindcast needs; does nothing if they are installed.
#
#     sh deploy/install.sh         to build and run
#     sh deploy/install.sh view    also to build hindcast-view
#     sh deploy/install.sh web     also to build the library for pages, by WebAssembly
#     sh deploy/install.sh packages    also to make Debian's packages
#     sh deploy/install.sh tests   also to test, on s390x too
#     sh deploy/install.sh browser also to test pages in Chromium, 290 MB and what it needs, with playwright-core of npm
#     sh deploy/install.sh prometheus  also to test with Prometheus, 325 MB more
#     sh deploy/install.sh lintian     also to check Debian's packages by lintian, and on a fresh Debian
#     sh deploy/install.sh machines    also to test on every other machine of tests/machines/run.sh
set -eu

build="gcc libc6-dev cmake ninja-build pkg-config libevent-dev libmsgpack-dev libsodium-dev
       libxxhash-dev libjansson-dev libinih-dev scdoc"
view="libsdl2-dev libpng-dev"
web="clang-14 lld-14 llvm-14 wasi-libc libclang-rt-14-dev-wasm32"
command -v node >/dev/null 2>&1 || web="$web nodejs"
packages="dpkg-dev file"
tests="check g++ clang $packages iproute2 libclang-rt-14-dev llvm python3 python3-msgpack python3-nacl python3-yaml
       python3-jsonschema qstat gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static systemd mandoc"
lintian="lintian debootstrap"
browser="chromium fonts-dejavu-core"
command -v npm >/dev/null 2>&1 || browser="$browser npm"
playwright=1.65.1 # of npm, in build/browser
machines="gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-i686-linux-gnu libc6-dev-i386-cross musl-tools
          gcc-mingw-w64-x86-64-win32 wine64 autoconf automake libtool"

case "${1-}" in
"") wanted=$build ;;
view) wanted="$build $view" ;;
web) wanted="$build $web" ;;
tests) wanted="$build $view $web $tests" ;;
browser) wanted="$build $view $web $tests $browser" ;;
prometheus) wanted="$build $view $web $tests prometheus" ;;
machines) wanted="$build $view $web $tests $machines" ;;
packages) wanted="$build $view $packages" ;;
lintian) wanted="$build $view $web $tests $lintian" ;;
*)
    echo "install.sh: unknown argument '$1' (none, view, web, packages, tests, browser, prometheus, lintian or machines)" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "install.sh: this is not Debian; install these packages yourself:" $wanted >&2
    exit 0
fi

missing=""
for package in $wanted; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=""
    [ "$state" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "install.sh: packages are missing; as root: apt-get install$missing" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086 # a list of words
    apt-get install -q -y --no-install-recommends $missing
fi

modules=$(dirname "$0")/../build/browser
if [ "${1-}" = browser ] && [ ! -d "$modules/node_modules/playwright-core" ]; then
    mkdir -p "$modules"
    npm install --silent --no-audit --no-fund --prefix "$modules" "playwright-core@$playwright"
fi
