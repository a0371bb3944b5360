#!/bin/sh
# The inspector of the admin face: its page, and the events of matches that play, end and hang; readers that are slow,
# too many, or gone harm neither the match nor other readers.  inspector.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)

# look ARGUMENTS...: asks the inspector at $at.
look() {
    timeout "$AWAIT" python3 "$here/inspector.py" "$at" "$@"
}

# status_of EXPRESSION: prints the value of an expression for the status s.
status_of() {
    python3 "$here/admin.py" "$at" get /status | python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"
}

serve_admin server --admin 127.0.0.1:0 --max-clients 10 --seed 4
server=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 8 --link bad --timing rewind --name "<img src=x>"
bots=$pid
check "eight bots play" await shows "$work/server.err" " joined " 8

check "the page comes with all files that it names, from this server alone" look files
check "frames have each tick once, with its phases" look check match=1 12 \
    'all(t[0] == before[0] + t[1] for before, t in zip(ticks, ticks[1:]))' 'f["lost_ticks"] == 0' \
    'hello["tick_rate"] == 60 and hello["game"] == "arena" and len(hello["columns"]) + 5 == len(f["clients"][0])' \
    'f["head"] == ticks[-1][0]' 'any(sum(t[3:7]) > 0 for t in ticks)'
check "a rewind has inputs that came late, of clients that play, and entities that changed" look check match=1 12 \
    'len(rewinds) > 5' 'all(r[1] < r[0] and r[2] <= r[0] - r[1] for r in rewinds)' \
    'all(c[0] == 0 and c[1] < r[0] and c[3] in {x[0] for x in f["clients"]} for r in rewinds for c in r[7])' \
    'any(r[8] and r[5] >= len(r[8]) and all(r[1] < x[3] <= x[4] <= r[0] for x in r[8]) for r in rewinds)'
check "all clients have their figures, and names as they are" look check match=1 2 \
    'len(f["clients"]) == 8 == f["client_total"]' 'all(c[5] > 20 and c[3] == 1 for c in f["clients"])' \
    'all(c[2].startswith("<img src=x>") for c in f["clients"])'
check "the map has all that is alive" look check match=1 2 'f["alive"] == len(f["map"]) / 5 >= 8 and f["every"] == 1'
cid=$(status_of 's["matches"][0]["clients"][0]["cid"]')
check "what a client was sent is beside it, and older than the head" look check "match=1&client=$cid" 3 \
    "all(s['cid'] == $cid and len(s['sent']) / 6 == s['total'] > 1 for s in sights)" \
    '{s["frame"] for s in sights} >= {x["frame"] for x in frames[1:]}' \
    'all(s["sent"][i] <= x["head"] for x in frames for s in sights if s["frame"] == x["frame"] for i in range(3, len(s["sent"]), 6))'

check "a match that is none" look refused match=2 400
check "nor one of these" look refused match=0 400
check "nor that" look refused 'match=1&client=x' 400
check "another web page may not look" look refused match=1 403 Origin http://evil.example
check "sixteen may read at once, and a place is free again" look limit
check "a slow reader is closed, and others miss nothing" look slow
check "hundreds of readers come and go" look burst 300
descriptors() { find "/proc/$server/fd" | wc -l; }
few() { [ "$(descriptors)" -lt 60 ]; }
check "their connections are gone" await few
check "what an owner does not ask is refused" python3 "$here/admin.py" "$at" hostile
kill -TERM "$bots"
finish "$bots"
kill -TERM "$server"
finish "$server"
check "no bot lost anything by it" report bots 'c["hash_mismatches"] == 0 and c["connections_lost"] == 0'

# A match that waits, plays, and gets another world; one that hangs.
# game NAME STATEMENT: builds tag, whose ball begins each step with the statement.
game() {
    printf '#include <stdio.h>\nint access(const char *, int);\nint usleep(unsigned);\n#define %s %s\n#include "tests/games/tag.h"\n' \
        "TAG_BALL_STEP(scene, out)" "$2" >"$work/$1.c"
    cc -std=c11 -O1 -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$work/$1.c"
}
check "a game builds that hangs in match 2 when it is told to" game hangs \
    "if ((scene)->world->seed == 6 && !rename(\"$work/hang\", \"$work/hangs\")) while (!access(\"$work/hangs\", 0)) usleep(5000)"
check "and one that does not, for the clients" game plays "(void)(out)"
printf 'correct horse battery staple\n' >"$work/password"
chmod 600 "$work/password"
serve_admin several --game "$work/hangs.so" --matches 2 --workers 2 --seed 5 --max-clients 4 --admin 127.0.0.1:0
several=$pid
check "a match that nobody plays is silent" look await match=1 silence '"waits for its first client" in e["why"]'
# play NAME MATCH ARGUMENTS...: two bots play in the match; sets $pid.
play() {
    name=$1 match=$2
    shift 2
    start "$name" hindcast-bot --connect "127.0.0.1:$port" --game "$work/plays.so" --count 2 --match "$match" "$@"
}
play first 1
first=$pid
check "frames come once somebody plays" look await match=1 frame 'e["client_total"] == 2'
look await match=1 hello 'e["worlds"] == 2' >"$work/world" 2>&1 &
watches=$!
await_frames() { look check match=1 2 'hello["worlds"] == 1'; }
check "they are of the first world" await_frames
kill -TERM "$first"
finish "$first"
check "its next world is made" await grep -q " match-renewed .*match=1" "$work/several.err"
play second 1
second=$pid
check "a reader that looked all the time is told of it" wait "$watches"
play third 2
third=$pid
check "match 2 is played" look await match=2 frame 'e["client_total"] == 2'
: >"$work/hang"
check "match 2 hangs" await test -e "$work/hangs"
check "and its readers learn it" look await match=2 silence '"hangs" in e["why"]'
check "while match 1 goes on" look check match=1 5 'f["lost_ticks"] == 0'
rm "$work/hangs"
check "frames come again when the call returns" look await match=2 frame 'True'
kill -TERM "$second" "$third"
finish "$second"
finish "$third"
kill -TERM "$several"
finish "$several"

serve_admin locked --admin 127.0.0.1:0 --admin-password-file "$work/password"
check "with a password, the page needs it too" sh -c "[ \"\$(python3 '$here/admin.py' '$at' code /)\" = 401 ] &&
    [ \"\$(python3 '$here/admin.py' '$at' code / 'correct horse battery staple')\" = 200 ]"
check "and the events" look refused match=1 401
kill -TERM "$pid"
finish "$pid"
end
