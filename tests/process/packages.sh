#!/bin/sh
# Debian's packages have the right files and dependencies. Unpacked into a root of their own, their
# server is played by their bot, and an example is built with them.  packages.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

build=$(cd "$bin/.." && pwd)
mkdir "$work/packages" "$work/root"
# cpack installs what is built: it does not build.
check "cpack makes the packages" cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages"
[ "$failed" -eq 0 ] || end

architecture=$(dpkg --print-architecture)
version=$(sed -n 's/^project(hindcast VERSION \([0-9.]*\).*/\1/p' "$here/../../CMakeLists.txt")
all="hindcast libhindcast-dev libhindcast hindcast-server"
[ ! -x "$bin/hindcast-view" ] || all="hindcast-view $all"
# deb PACKAGE: its file; the service is the same on each machine.
deb() {
    case $1 in
    hindcast-server) echo "$work/packages/$1_${version}_all.deb" ;;
    *) echo "$work/packages/$1_${version}_$architecture.deb" ;;
    esac
}
packages_are_named() {
    (cd "$work/packages" && LC_ALL=C ls "$PWD"/*.deb) >"$work/names"
    cat "$work/names"
    for package in $all; do
        deb "$package"
    done | LC_ALL=C sort | diff - "$work/names"
}
check "they are $all" packages_are_named
[ "$failed" -eq 0 ] || end
(cd "$work/packages" && du -b ./*.deb) | awk '{ printf "%9d bytes %s\n", $1, $2 }'

# has PACKAGE: it has exactly the files of the standard input, documents not counted.
has() {
    dpkg-deb -c "$(deb "$1")" | awk '$1 !~ /^d/ { print $6 }' | grep -v '^\./usr/share/doc/' | LC_ALL=C sort >"$work/files"
    LC_ALL=C sort | diff - "$work/files"
}
# files BEFORE NAMES...: a line for each name.
files() {
    before=$1
    shift
    printf "./usr/$before%s\n" "$@"
}
programs=$(cd "$bin" && ls hindcast* | grep -v view)
# The man pages are made where scdoc is.
pages=$(cd "$build/manual/man" && ls)
programs_are_in_hindcast() {
    # shellcheck disable=SC2086 # a list of words
    {
        files bin/ $programs
        files share/bash-completion/completions/ $programs
        for page in $pages; do
            section=${page%.gz}
            [ "$page" = hindcast-view.1.gz ] || files "share/man/man${section##*.}/" "$page"
        done
    } | has hindcast
}
check "hindcast has the programs, their pages and their completions" programs_are_in_hindcast
service_is_in_server() {
    {
        echo ./etc/hindcast/hindcastd.conf
        echo ./etc/logrotate.d/hindcast-server
        files lib/systemd/system/ hindcastd.service hindcastd@.service hindcastd.socket hindcastd@.socket
        files lib/sysusers.d/ hindcast.conf
        files lib/tmpfiles.d/ hindcast.conf
    } | has hindcast-server
}
check "hindcast-server has the service" service_is_in_server
settings_belong_to_the_administrator() {
    dpkg-deb --ctrl-tarfile "$(deb hindcast-server)" | tar -xO ./conffiles | sort >"$work/conffiles"
    printf '%s\n' /etc/hindcast/hindcastd.conf /etc/logrotate.d/hindcast-server | diff - "$work/conffiles"
}
check "an upgrade leaves its settings to the administrator" settings_belong_to_the_administrator
libraries_are_in_libhindcast() {
    for library in hindcast hindcast-server; do
        files "lib/lib$library.so." "${version%.*}" "$version"
    done | has libhindcast
}
check "libhindcast has the shared libraries" libraries_are_in_libhindcast
development_is_in_dev() {
    {
        # shellcheck disable=SC2046 # a list of words
        files include/hindcast/ $(ls "$here/../../include/hindcast")
        for library in hindcast hindcast-server; do
            files "lib/lib$library" .so .a
            files lib/pkgconfig/ "$library.pc"
        done
        files lib/cmake/hindcast/hindcast- config.cmake config-version.cmake targets.cmake \
            targets-release.cmake static-targets.cmake static-targets-release.cmake
    } | has libhindcast-dev
}
check "libhindcast-dev has the headers, and what links and finds the libraries" development_is_in_dev

# depends PACKAGE PATTERN...: its dependencies match every pattern.
depends() {
    package=$1
    shift
    dpkg-deb -f "$(deb "$package")" Depends >"$work/depends"
    cat "$work/depends"
    for pattern in "$@"; do
        grep -qe "$pattern" "$work/depends" || return 1
    done
}
check "hindcast needs the packages of its libraries" \
    depends hindcast '\blibc6\b' '\blibevent-core-' '\blibevent-extra-' '\blibsodium[0-9]' '\blibjansson[0-9]' '\blibinih[0-9]'
server_needs_no_graphics() {
    ! depends hindcast libsdl
}
check "hindcast needs no graphics" server_needs_no_graphics
check "libhindcast needs the packages of its libraries" depends libhindcast '\blibc6\b' '\blibsodium[0-9]'
check "libhindcast-dev needs libhindcast of its version" depends libhindcast-dev "^libhindcast (= $version)\$"
check "hindcast-server needs hindcast of its version" depends hindcast-server "^hindcast (= $version)"
every_package_has_its_copyright() {
    for package in $all; do
        dpkg-deb -x "$(deb "$package")" "$work/root" && [ -s "$work/root/usr/share/doc/$package/copyright" ] || return 1
    done
}
check "every package has its copyright" every_package_has_its_copyright
check "every document that is named is in its package, and its links work" \
    python3 "$here/documents.py" "$work/root/usr" libhindcast-dev hindcast
libhindcast_tells_the_linker() {
    dpkg-deb -e "$(deb libhindcast)" "$work/control" && grep -q ldconfig "$work/control/postinst" &&
        grep -q "^libhindcast-server ${version%.*} libhindcast (= $version)" "$work/control/shlibs"
}
check "libhindcast tells the linker of its libraries" libhindcast_tells_the_linker
# Many packages for one program: only where somebody has it, as on machines of tests/long.sh.
if command -v lintian >/dev/null; then
    check "lintian finds no error" lintian --fail-on error --tag-display-limit 0 "$work"/packages/*.deb
fi
[ "$failed" -eq 0 ] || end

bin=$work/root/usr/bin
serve server --max-clients 2
server=$pid
start bot hindcast-bot --connect "127.0.0.1:$port" --duration 2
finish "$pid"
check "the package's bot plays on the package's server" good bot
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict" good server
example=$work/root/usr/share/doc/libhindcast-dev/examples/embed
example_builds() {
    # shellcheck disable=SC2046 # a list of words
    gcc -std=gnu11 -o "$work/embed" "$example/embed.c" \
        $(PKG_CONFIG_LIBDIR=$work/root/usr/lib/pkgconfig pkg-config --cflags --libs hindcast-server)
}
check "the package's example builds with the package" example_builds
end
