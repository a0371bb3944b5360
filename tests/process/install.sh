#!/bin/sh
# An installed prefix works after it is moved: its headers compile alone, in C and C++; the README's
# client builds against it with pkg-config and CMake, in C and C++, shared and static; all of these
# clients play on its server.  install.sh DIRECTORY_OF_PROGRAMS
set -u
: "${HC_LIMIT:=180}"
. "$(dirname "$0")/lib.inc"

build=$(cd "$bin/.." && pwd)
strict="-Wall -Wextra -Wpedantic -Werror"

check "cmake --install works" cmake --install "$build" --prefix "$work/first"
[ "$failed" -eq 0 ] || end
mv "$work/first" "$work/moved"
prefix=$work/moved
bin=$prefix/bin
packages=$(dirname "$(find "$prefix" -name hindcast.pc)")

installed_are_the_public_headers_alone() {
    (cd "$here/../../include" && find . -type f | sort) >"$work/public"
    (cd "$prefix/include" && find . -type f | sort) | diff "$work/public" -
}
check "the public headers are installed, and no others" installed_are_the_public_headers_alone

check "every document that is named is installed, and its links work" \
    python3 "$here/documents.py" "$prefix" libhindcast-dev hindcast

# compiles_alone COMPILER...: compiles each header as the only one of a file.
compiles_alone() {
    for header in "$prefix"/include/hindcast/*.h; do
        echo "#include <hindcast/${header##*/}>
extern int not_empty;" >"$work/alone.c"
        "$@" $strict -Wundef -fsyntax-only -I "$prefix/include" "$work/alone.c" || return 1
    done
}
for compiler in gcc clang; do
    for standard in c11 c17; do
        check "each header compiles alone with $compiler as $standard" \
            compiles_alone "$compiler" "-std=$standard"
    done
done
for compiler in g++ clang++; do
    check "each header compiles alone with $compiler as C++17" compiles_alone "$compiler" -std=c++17 -x c++
done

# The fields of a game, as C++20 describes them: their designators stand in the order of the struct.
cat >"$work/fields.cpp" <<'CPP'
#include <hindcast/plugin.h>
struct ball {
    uint16_t x, y;
    int16_t vx;
    uint8_t wait, ago;
};
extern const hc_field fields[], input[];
const hc_field fields[] = {
    HC_FIELD(struct ball, x, 10, false, .interpolate = HC_LINEAR, .moves_by = "vx", .moves_per = 1),
    HC_FIELD(struct ball, y, 9, false),
    HC_FIELD(struct ball, vx, 5, true),
    HC_FIELD(struct ball, wait, 6, false, .group = 1, .countdown = true)};
const hc_field input[] = {HC_FIELD(struct ball, ago, 6, false, .shown_ago = true)};
extern const hc_kind kind;
const hc_kind kind = {.name = "ball", .state_size = sizeof(ball), .field_count = 4, .fields = fields,
                      .x = "x", .y = "y", .teleport = 64, .events_max = 1};
extern const hc_reduction best;
const hc_reduction best = {.op = HC_REDUCE_MAX, .field = "x"};
CPP
for compiler in g++ clang++; do
    check "a game describes its fields with $compiler as C++20" \
        "$compiler" -std=c++20 -Wall -Wpedantic -Werror -fsyntax-only -I "$prefix/include" "$work/fields.cpp"
done

# Each library exports functions of the public headers alone, and all of its own header.
# exports LIBRARY HEADER
exports() {
    nm -D --defined-only "$(dirname "$packages")/lib$1.so" | awk '{ print $3 }' | sort >"$work/exported"
    python3 - "$prefix/include/hindcast" "$2" "$work/exported" <<'PYTHON'
import pathlib, re, sys
headers, own, exported = pathlib.Path(sys.argv[1]), sys.argv[2], open(sys.argv[3]).read().split()
def declared(pattern):
    text = "\n".join(path.read_text() for path in headers.glob(pattern))
    return set(re.findall(r"HC_API\s[^;({]*?(\w+)\s*[(;]", text))
assert len(declared(own)) > 10, declared(own)
print("not in a header:", sorted(set(exported) - declared("*.h")))
print("not exported:", sorted(declared(own) - set(exported)))
sys.exit(not set(exported) <= declared("*.h") or not declared(own) <= set(exported))
PYTHON
}
check "libhindcast exports its headers" exports hindcast client.h
for header in timeline.h network_sim.h; do
    check "libhindcast exports $header" exports hindcast "$header"
done
check "libhindcast-server exports its headers" exports hindcast-server server.h
for library in hindcast hindcast-server; do
    has_soname() {
        readelf -d "$(dirname "$packages")/lib$library.so" | grep -q "SONAME.*\[lib$library\.so\.[0-9]*\.[0-9]*\]"
    }
    check "lib$library has a SONAME with its version" has_soname
done

mkdir "$work/reader"
sed -n '/^```c$/,/^```$/{/^```/!p}' "$here/../../README.md" >"$work/reader/client.c"
cp "$work/reader/client.c" "$work/reader/client.cpp"

# Without the packages of libhindcast's own dependencies.
builds_shared() {
    set -- "$@" $(PKG_CONFIG_LIBDIR=$packages pkg-config --cflags --libs hindcast)
    "$@" "-Wl,-rpath,${packages%/pkgconfig}"
}
builds_static() {
    "$@" -static $(PKG_CONFIG_PATH=$packages pkg-config --static --cflags --libs hindcast)
}
for link in shared static; do
    check "the README's client builds with gcc and pkg-config, $link" \
        "builds_$link" gcc -std=gnu17 $strict -o "$work/pkgconfig_${link}_c" "$work/reader/client.c"
    check "the README's client builds with g++ and pkg-config, $link" \
        "builds_$link" g++ -std=gnu++17 $strict -o "$work/pkgconfig_${link}_cpp" "$work/reader/client.cpp"
done

cat >"$work/reader/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(reader LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(hindcast 0.2 REQUIRED)
foreach(language c cpp)
  add_executable(cmake_shared_${language} client.${language})
  target_link_libraries(cmake_shared_${language} PRIVATE hindcast::hindcast)
  add_executable(cmake_static_${language} client.${language})
  target_link_libraries(cmake_static_${language} PRIVATE hindcast::hindcast_static)
endforeach()
CMAKE
builds_with_cmake() {
    cmake -S "$work/reader" -B "$work" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DCMAKE_C_FLAGS=$strict" "-DCMAKE_CXX_FLAGS=$strict" &&
        cmake --build "$work"
}
check "the README's client builds with CMake, in C and in C++, shared and static" builds_with_cmake

# examples/pong as a game's developer has it: a folder of its own, and the installed package.
cp -r "$here/../../examples/pong" "$work/pong"
pong_builds() {
    cmake -S "$work/pong" -B "$work/pong/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_FLAGS=$strict" &&
        cmake --build "$work/pong/build" &&
        gcc -std=c11 $strict -fPIC -shared $(PKG_CONFIG_LIBDIR=$packages pkg-config --cflags hindcast) \
            -o "$work/pong/pong.so" "$work/pong/pong.c"
}
check "examples/pong builds with CMake and with pkg-config against the prefix" pong_builds
pong_is_linked_with_nothing_of_ours() {
    readelf -d "$work/pong/build/pong.so" >"$work/pong/dynamic" && ! grep -q hindcast "$work/pong/dynamic"
}
check "a plugin is linked with no library of Hindcast" pong_is_linked_with_nothing_of_ours
for plugin in build/pong.so pong.so; do
    check "the installed hindcastd loads $plugin" "$bin/hindcastd" protocol-id --game "$work/pong/$plugin"
done

# examples/duel, the same way, with its level.
cp -r "$here/../../examples/duel" "$work/duel"
duel_builds() {
    cmake -S "$work/duel" -B "$work/duel/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_FLAGS=$strict" &&
        cmake --build "$work/duel/build"
}
check "examples/duel builds with CMake against the prefix" duel_builds
check "the installed hindcastd loads it with its level" "$bin/hindcastd" protocol-id --game "$work/duel/build/duel.so"

# examples/embed, the same way: a server in a program of its own.
cp -r "$here/../../examples/embed" "$work/embed"
embed_builds() {
    cmake -S "$work/embed" -B "$work/embed/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_FLAGS=$strict" &&
        cmake --build "$work/embed/build" &&
        gcc -std=gnu11 $strict -static -o "$work/embed/embed_static" "$work/embed/embed.c" \
            $(PKG_CONFIG_PATH=$packages pkg-config --static --cflags --libs hindcast-server)
}
check "examples/embed builds with CMake, shared, and with pkg-config, static" embed_builds

# examples/offline: a timeline alone, then a server and two clients over simulated links.
cp -r "$here/../../examples/offline" "$work/offline"
offline_builds() {
    cmake -S "$work/offline" -B "$work/offline/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_FLAGS=$strict" &&
        cmake --build "$work/offline/build" &&
        gcc -std=gnu11 $strict -o "$work/offline/offline" "$work/offline/offline.c" \
            $(PKG_CONFIG_LIBDIR=$packages pkg-config --cflags --libs hindcast hindcast-server) "-Wl,-rpath,${packages%/pkgconfig}"
}
check "examples/offline builds with CMake and with pkg-config" offline_builds
for offline in build/offline offline; do
    check "examples/offline ($offline) plays alone and over a bad link" "$work/offline/$offline" bad
done

clients=""
for method in pkgconfig cmake; do
    for language in c cpp; do
        clients="$clients ${method}_shared_$language ${method}_static_$language"
    done
done

only_shared_ones_need_the_library() {
    for client in $clients; do
        needed=$(readelf -d "$work/$client" | grep -c 'NEEDED.*libhindcast\.so' || :)
        case $client in
        *_shared_*) [ "$needed" -eq 1 ] ;;
        *) [ "$needed" -eq 0 ] ;;
        esac || {
            echo "$client needs the shared library $needed times"
            return 1
        }
    done
}
check "only clients linked to the shared library need it" only_shared_ones_need_the_library
[ "$failed" -eq 0 ] || end

# plays_on_embed EMBED: one bot plays, one is kicked, and one is refused.
plays_on_embed() {
    "$1" 0 "$work/tokens" >"$work/embed.out" 2>&1 &
    embed=$!
    running="$running $embed"
    await shows "$work/embed.out" '^listening on ' 1 || return 1
    port=$(sed -n 's/^listening on 127\.0\.0\.1://p' "$work/embed.out")
    number=0
    for bot in ada guest mallory; do
        number=$((number + 1))
        sed -n "${number}p" "$work/tokens" >"$work/token"
        start "$bot" hindcast-bot --connect "127.0.0.1:$port" --token "$work/token" --duration "$((number == 1 ? 2 : 60))"
        finish "$pid"
        [ "$bot" != ada ] || good ada || return 1
    done
    kill -TERM "$embed"
    finish "$embed"
    cat "$work/embed.out" "$work/guest.err" "$work/mallory.err"
    [ "$status" -eq 0 ] && grep -q '^Ada left: the client left' "$work/embed.out" &&
        report ada 'c["snapshots"] > 0 and c["hash_checks"] > 0 and c["hash_mismatches"] == 0' &&
        grep -q 'removed by the game' "$work/guest.err" && grep -q 'the game refuses this user' "$work/mallory.err"
}
for embed in build/embed embed_static; do
    check "a bot plays on examples/embed ($embed), a guest is kicked, a banned user refused" \
        plays_on_embed "$work/embed/$embed"
done
[ "$failed" -eq 0 ] || end

# All clients play on one server until each has seen its player move. Then the server ends, and the
# clients with it.
"$bin/hindcastd" key --key-file "$work/keys"
serve_with server --port 0 --key-file "$work/keys" --max-clients 8 --seed 1
server=$pid
playing=""
for client in $clients; do
    token=$("$bin/hindcastd" token --key-file "$work/keys" --name "$client")
    "$work/$client" "$port" "$token" >"$work/$client.out" 2>"$work/$client.err" &
    running="$running $!" playing="$playing $!"
done
all_have_moved() {
    for client in $clients; do
        [ "$(sort -u "$work/$client.out" | grep -c '^x = ')" -ge 3 ] || return 1
    done
}
until all_have_moved; do
    for process in $server $playing; do
        kill -0 "$process" 2>/dev/null || {
            echo "FAILED  a program ended before every client had played"
            cat "$work"/*.err
            exit 1
        }
    done
    sleep 0.1
done
echo "ok      all eight play on the installed server"
kill -TERM "$server"
finish "$server"
check "the server ends with a good verdict on SIGTERM" good server
failures=0
for process in $playing; do
    finish "$process"
    failures=$((failures + status))
done
check "its clients end with it" [ "$failures" -eq 0 ]
end
