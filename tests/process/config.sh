#!/bin/sh
# Configuration files: every fault is told at once, later files and the command line win, and a running server reads
# them again without its players noticing.
set -u
. "$(dirname "$0")/lib.inc"

file=$work/server/hindcastd.conf
mkdir "$work/server"

# fails PATTERN COUNT COMMAND...: the command exits with 2, and that many lines of its errors match.
fails() {
    pattern=$1 count=$2
    shift 2
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 2 ] && shows "$work/err" "$pattern" "$count"
}

# set_config LINES...: writes the configuration, as a whole.
set_config() {
    printf '%s\n' "$@" >"$file.new"
    mv "$file.new" "$file"
}

set_config "dev = true" "late-margin = 600" "nonsense" "port = x" "port = 5" "no-such = 1"
check "all faults of a file are told, each with its line" \
    fails "^hindcastd: $file:[2-6]: " 5 "$bin/hindcastd" --config "$file"
check "with the key, the value and what is allowed" \
    grep -q ":2: late-margin '600': must be a whole number in \[0, 512\] ticks" "$work/err"
check "a key that is set twice" grep -q ":5: port '5': is set in line 4 already" "$work/err"
check "no file" fails "nowhere.conf: No such file" 1 "$bin/hindcastd" --config "$work/nowhere.conf"
set_config "dev = true" "npcs = 8"
check "settings that exclude each other name the line" \
    fails "$file:2: npcs '8': must be at most one less than --max-clients, which is 7" 1 \
    "$bin/hindcastd" --config "$file"
set_config "dev = true" "npcs = 8" "max-clients = 16"
check "--check-config says ok" sh -c "\"$bin/hindcastd\" --config '$file' --check-config | grep -qx ok"
check "and names a fault" fails "npcs '16'" 1 "$bin/hindcastd" --config "$file" --npcs 16 --check-config
set_config "key-file = $work/no-keys"
status=0
"$bin/hindcastd" --config "$file" --check-config >"$work/out" 2>"$work/err" || status=$?
check "also of the files that it names" \
    sh -c "test $status = 1 && grep -q -e '--key-file .*no-keys.: No such file' '$work/err'"

# Later files win, and the command line wins over all.
set_config "late-margin = 5" "linger = 5" "client-rate = 5000"
printf 'late-margin = 6\nlinger = 6\n' >"$work/second.conf"
"$bin/hindcastd" config --config "$file" --config "$work/second.conf" --linger 7 >"$work/printed"
check "a later file wins" grep -qx "late-margin = 6" "$work/printed"
check "the command line wins" grep -qx "linger = 7" "$work/printed"
check "what only the first file says stays" grep -qx "client-rate = 5000" "$work/printed"

# Every setting that may change while the server runs does, and the others wait.
"$bin/hindcastd" config >"$work/defaults"
cat >"$work/others.py" <<'END'
import re, sys
live, fixed, comment = [], [], ""
for line in open(sys.argv[1]):
    name = re.match(r";([a-z-]+) =", line)
    comment = comment + line if line.startswith("#") else comment if name else ""
    if not name:
        continue
    one, whole = name[1], re.sub(r"\n# ", " ", comment)
    value = re.search(r"\(\d+ to \d+.*default: ([0-9.]+)\)", whole)
    if one in ("bind", "port", "dev", "verdict", "key-file", "json"):
        continue  # the command line of the test sets them, or they exclude --dev
    # Each value is another one than the default, and allowed beside the other settings.
    text = {"log-level": "debug", "refused": sys.argv[2], "force-rewind-match": "1", "force-rewind": "1",
            "snapshot-rate": "30", "log-file": sys.argv[3], "players-per-client": "3",
            "max-clients": "6", "tick-rate": "70", "client-rate": "90000", "status-every": "9"}.get(one)
    text = text if text is not None else str(int(float(value[1])) + 1) if value else ""
    if text:
        (live if "It may change while" in comment else fixed).append((one, text))
with open(sys.argv[4], "w") as file:
    file.writelines(f"{one} = {text}\n" for one, text in live + fixed)
with open(sys.argv[5], "w") as file:
    file.writelines(f"setting-changed {one}\n" for one, _ in live)
    file.writelines(f"setting-waits {one}\n" for one, _ in fixed)
END
: >"$work/nobody"
set_config ""
serve changes --config "$file"
server=$pid
python3 "$work/others.py" "$work/defaults" "$work/nobody" "$work/changed.log" "$work/others.conf" "$work/expected"
cp "$work/others.conf" "$file.new"
mv "$file.new" "$file"
kill -HUP "$server"
check "a reload is logged, in the new file" await grep -q "info  config-read files=1 changed=[1-9]" "$work/changed.log"
sed -n 's/.* \(setting-[a-z]*\) key=\([a-z-]*\) .*/\1 \2/p' "$work/changes.err" | sort >"$work/found"
check "all settings that may change do, and the others are named" \
    sh -c "sort '$work/expected' | diff - '$work/found' && test \$(grep -c changed '$work/found') -ge 12"
kill -TERM "$server"
finish "$server"

# Another key file and another list of refused users take effect, for users that play too.
make_tokens 2
"$bin/hindcastd" key --key-file "$work/other-keys" >/dev/null
"$bin/hindcastd" token --key-file "$work/other-keys" --client-id 9 --life 600 >"$work/other-token"
"$bin/hindcastd" token --key-file "$work/keys" --client-id 3 --life 600 >"$work/third-token"
"$bin/hindcastd" token --key-file "$work/other-keys" --client-id 8 --life 600 >"$work/late-token"
set_config "key-file = $work/keys"
start named hindcastd --config "$file" --bind 127.0.0.1 --port 0 --matches 2 --workers 2
server=$pid
check "a server takes its key file from its configuration" await grep -q "^listening on" "$work/named.out"
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/named.out")
start users hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/tokens"
users=$pid
check "two users play" await shows "$work/named.err" "info  joined" 2
echo 2 >"$work/refused"
set_config "key-file = $work/other-keys" "refused = $work/refused" "no-such = 1"
kill -HUP "$server"
check "a configuration with a fault is refused" await grep -q "error config-refused faults=1" "$work/named.err"
check "and the keys are read all the same" await shows "$work/named.err" "info  keys-read" 1
start early hindcast-bot --connect "127.0.0.1:$port" --token "$work/third-token" --duration 1
finish "$pid"
check "a user plays for a second after it" await grep -q " left .*user=3 " "$work/named.err"
check "nobody is refused" sh -c "! grep ' left ' '$work/named.err' | grep -qv 'user=3 '"
set_config "key-file = $work/other-keys" "refused = $work/refused"
kill -HUP "$server"
check "the refused user is closed" await grep -q "info  left .*user=2 " "$work/named.err"
check "the keys of the other file are read" await shows "$work/named.err" "info  keys-read" 2
start other hindcast-bot --connect "127.0.0.1:$port" --token "$work/other-token" --duration 1
finish "$pid"
check "a token of the other keys admits" report other 'c["snapshots"] > 0'
set_config "key-file = $work/other-keys"
kill -HUP "$server"
check "nobody is refused any more" await grep -q "info  refused-read users=0" "$work/named.err"
start late hindcast-bot --connect "127.0.0.1:$port" --token "$work/late-token" --duration 1
finish "$pid"
check "a user plays for a second after it, too" await grep -q " left .*user=8 " "$work/named.err"
check "the other user plays on" test "$(grep -c ' left .*user=1 ' "$work/named.err")" = 0
kill -TERM "$server"
finish "$server"
finish "$users"

# Bots play while the configuration is read again and again, half of the time with faults.
set_config ""
serve server --config "$file" --max-clients 8
server=$pid
start bots hindcast-bot --connect "127.0.0.1:$port" --count 8 --link ok
bots=$pid
check "eight bots play" await grep -q "all .* play" "$work/bots.out" "$work/bots.err"
check "the configuration is read 1,000 times" \
    sh -c "python3 '$here/reload.py' $server '$file' 1000 >'$work/memory'"
kill -TERM "$bots"
finish "$bots"
kill -TERM "$server"
finish "$server"
check "nobody stalls, unless the machine stood still" report bots \
    'c["hash_mismatches"] == 0 and c["connections_lost"] == 0 and (c["stalls"] == 0 or of("server")["server"]["ticks_missed"] > 0)'
check "half of the readings changed nothing" report server 's["reloads"] == 1000 and s["reloads_refused"] == 500'
read -r early late <"$work/memory"
check "memory stays as it is ($early KiB, then $late KiB)" test "$late" -le $((early + early / 8))
named=$(($(grep -c " config-refused faults=" "$work/server.err") + $(sed -n \
    's/.* log-suppressed kind=config-refused count=\([0-9]*\)$/\1/p' "$work/server.err" | awk '{ n += $1 } END { print n + 0 }')))
check "the log names each broken one, or counts it ($named)" test "$named" = 500
end
