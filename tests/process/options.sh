#!/bin/sh
# A wrong command line exits with 2 and a sentence that names the option, the value and the range.
set -u
. "$(dirname "$0")/lib.inc"

# refused PATTERN PROGRAM ARGUMENTS...: exit status 2, and a line that matches.
refused() {
    pattern=$1 program=$2
    shift 2
    status=0
    "$bin/$program" "$@" >"$work/out" 2>"$work/err" || status=$?
    matched() {
        cat "$work/err"
        [ "$status" = 2 ] && grep -qe "$pattern" "$work/err"
    }
    check "$program $*" matched
}

refused "--ticks '100001': must be .*\[1, 100000\]" hindcast-check --ticks 100001
refused "unexpected argument 'game.so'" hindcast-check game.so
refused "--port '65536': must be .*\[0, 65535\]" hindcastd --port 65536
refused "--port 'x': must be .*\[0, 65535\]" hindcastd --port x
refused "--tick-rate '0': must be .*\[1, 240\]" hindcastd --tick-rate 0
refused "--max-clients '-1': must be .*\[1, 4096\]" hindcastd --max-clients=-1
refused "--max-clients '4097': must be .*\[1, 4096\]" hindcastd --dev --max-clients 4097
refused "unexpected argument 'tokens'; the commands are config, key, token" hindcastd tokens
refused "--history '513': must be .*\[0, 512\]" hindcastd --history 513
refused "--late-margin '513': must be .*\[0, 512\]" hindcastd --late-margin 513
refused "--force-rewind '513': must be .*\[0, 512\]" hindcastd --force-rewind 513
refused "--force-rewind '9': must be at most --history, which is 8" \
    hindcastd --dev --force-rewind 9 --history 8
refused "--snapshot-rate '241': must be .*\[0, 240\]" hindcastd --snapshot-rate 241
refused "--snapshot-rate '61': must be at most --tick-rate, which is 60" hindcastd --dev --snapshot-rate 61
refused "--client-rate '3999': must be .*\[4000, 4294967295\]" hindcastd --client-rate 3999
refused "--view '511': must be 0, or at least the game's reach, which is 512" hindcastd --dev --view 511
refused "--npcs '8': must be at most one less than --max-clients, which is 7" hindcastd --dev --npcs 8
refused "--force-rewind-match '1': must be given with --force-rewind" hindcastd --dev --force-rewind-match 1
refused "--bind 'nowhere': must be" hindcastd --bind nowhere
refused "--log-level 'loud': must be error, warn" hindcastd --log-level loud
refused "--key-file FILE is needed, or --dev for trying things" hindcastd
refused "--dev makes a key of its own, and excludes --key-file FILE" hindcastd --dev --key-file x
refused "--connects-per-address '10001': must be .*\[0, 10000\]" hindcastd --connects-per-address 10001
refused "--clients-per-address '-1': must be .*\[0, 4096\]" hindcastd --clients-per-address=-1
refused "--key-file FILE is needed" hindcastd key
refused "--key-file FILE is needed" hindcastd key --use
refused "--key-file FILE is needed" hindcastd token
refused "unrecognized option '--use'" hindcastd token --key-file x --use
refused "unexpected argument 'x'" hindcastd protocol-id x
refused "--life '0': must be .*\[1, 86400\]" hindcastd token --key-file x --life 0
refused "--players '5': must be .*\[0, 4\]" hindcastd token --key-file x --players 5
refused "--players-per-client '0': must be .*\[1, 4\]" hindcastd --players-per-client 0
refused "--session-life 'x': must be .*\[0, 4294967295\]" hindcastd --session-life x
refused "--spectators '4097': must be .*\[0, 4096\]" hindcastd --spectators 4097
refused "--spectators '257': must be at most the spectators of one of several --matches, which is 256" \
    hindcastd --dev --matches 2 --spectators 257
refused "--timeout '0': must be .*\[1, 3600\]" hindcastd --timeout 0
refused "--linger '3601': must be .*\[0, 3600\]" hindcastd --linger 3601
refused "--name '' (0 bytes): must be 1 to 32 bytes" hindcastd token --key-file x --name ''
refused "--name 'a.x0a\[31m' .*: must be" hindcastd token --key-file x --name "a
[31m"
refused "unrecognized option '--no-such'" hindcastd --no-such
refused "unexpected argument 'x'" hindcastd x
refused "--connect HOST:PORT is needed" hindcast-bot
refused "--connect 'nowhere': must be HOST:PORT" hindcast-bot --connect nowhere
refused "--connect 'h:0': must be HOST:PORT" hindcast-bot --connect h:0
refused "--loss '101': must be .*\[0, 100\] %" hindcast-bot --connect h:1 --loss 101
refused "--latency '1e3': must be .*\[0, 60000\] ms" hindcast-bot --connect h:1 --latency 1e3
refused "--link 'worse': must be good, ok, bad or awful" hindcast-bot --connect h:1 --link worse
refused "--input-delay '61': must be auto, or .*\[0, 60\] ticks" hindcast-bot --connect h:1 --input-delay 61
refused "--lead 'none': must be auto, or .*\[0, 60\] ticks" hindcast-bot --connect h:1 --lead none
refused "--timing 'best': must be rewind, balanced or ahead" hindcast-bot --connect h:1 --timing best
refused "--input-delay-max '2': must be with --input-delay auto" \
    hindcast-bot --connect h:1 --input-delay 1 --input-delay-max 2
refused "one of --connect HOST:PORT and --spawn" hindcast-load
refused "--connect HOST:PORT and --spawn exclude each other" hindcast-load --spawn --connect h:1
refused "--server-args ARGS is for the server of --spawn" hindcast-load --connect h:1 --server-args x
refused "--token FILE is for a server elsewhere" hindcast-load --spawn --token x
refused "--clients '0': must be .*\[1, 4096\]" hindcast-load --spawn --clients 0
refused "--count '0': must be .*\[1, 4096\]" hindcast-bot --connect h:1 --count 0
refused "--light '4097': must be .*\[0, 4096\]" hindcast-load --spawn --light 4097
refused "--light '4090': must be at most 4096 together with --clients" hindcast-load --spawn --light 4090
refused "--sources '0': must be .*\[1, 4096\]" hindcast-load --spawn --sources 0
refused "--activity '101': must be .*\[0, 100\] %" hindcast-load --spawn --activity 101
refused "--jitter '30': must be at most --latency, which is 20" hindcast-load --spawn --link good --jitter 30
refused "--jitter '5': must be at most --latency, which is 0" hindcast-bot --connect h:1 --jitter 5
refused "--latency '1': must be at least the jitter of --link good, which is 2" \
    hindcast-bot --connect h:1 --link good --latency 1
refused "--burst '3': must be with --loss PCT" hindcast-load --spawn --burst 3
refused "--queue '5': must be with --bandwidth KBIT" hindcast-load --spawn --queue 5
refused "--storm '9': must be at most the clients, which are 8" hindcast-load --spawn --storm 9
refused "--sources '2': must be with --light N" hindcast-load --spawn --sources 2
refused "--until '5': must be with --step N" hindcast-load --spawn --until 5
refused "--until 'soon': must be late, or .*\[1, 4096\]" hindcast-load --spawn --step 5 --until soon
refused "--latency-to '20': must be at least --latency, which is 50" \
    hindcast-load --spawn --link ok --latency-to 20
refused "--processes '9': must be at most --clients and --light, which is 8" \
    hindcast-load --spawn --clients 3 --light 5 --processes 9
start rewinder hindcastd --dev --bind 127.0.0.1 --port 0 --ticks 60 --force-rewind 8 --force-rewind-match 1
finish "$pid"
check "hindcastd --force-rewind rewinds at every tick that has a past" \
    report rewinder 's["rewinds"] == r["ticks"] - 1'
commit=" ([0-9a-f]\{7,\})"
[ -e "$here/../../.git" ] || commit=""
for program in hindcastd hindcast-bot hindcast-load hindcast-check; do
    check "$program --help" "$bin/$program" --help
    check "$program --version" sh -c "\"$bin/$program\" --version | grep -q '^$program [0-9.]*$commit\$'"
done
for command in config key token protocol-id; do
    check "hindcastd $command --help" sh -c \
        "\"$bin/hindcastd\" $command --help | grep -q '^Usage: hindcastd $command'"
done

# A printed configuration names every option, and as a file it gives the same settings again.
cat >"$work/settings.py" <<'END'
import configparser, subprocess, sys
program, work, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
def printed(arguments):
    return subprocess.run([program, "config", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
def read(text):
    assert max(map(len, text.split("\n"))) <= 100, "a line of more than 100 bytes"
    parser = configparser.ConfigParser(comment_prefixes=("#", ";"), interpolation=None)
    parser.read_string("[settings]\n" + text)
    return dict(parser["settings"])
text = printed(arguments)
settings = read(text)
help = subprocess.run([program, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
names = [line.split()[0].lstrip(";") for line in text.split("\n") if line and not line.startswith("#")]
assert len(names) == len(set(names)) >= 35, names
assert all("--" + name in help for name in names), names
with open(work + "/printed.ini", "w") as file:
    file.write(text)
assert printed(["--config", work + "/printed.ini"]) == text
given = {}
for argument in arguments:
    name, _, value = argument[2:].partition("=")
    given[name] = value or "true"
assert settings == given, (settings, given)
END
prints() {
    python3 "$work/settings.py" "$bin/hindcastd" "$work" "$@"
}
check "hindcastd config prints all defaults as comments" prints
check "and the settings that are given" prints --dev --timeout=2.5 --log-level=debug --matches=2 --max-clients=12 \
    --seed=9223372036854775807 --audience=18446744073709551615 --refused=names.txt --status-every=1 --verdict
check "hindcastd config exits with 1 when its output is full" sh -c \
    "\"$bin/hindcastd\" config >/dev/full 2>'$work/err'; test \$? = 1"
written=$(sed -n 's/^ *protocol_id  \([0-9a-f]\{16\}\) .*/\1/p' "$here/../../proto/ARENA.md")
check "hindcastd protocol-id prints what ARENA.md names" \
    test "$("$bin/hindcastd" protocol-id)" = "0x$written"
status=0
mkdir "$work/alone"
cp "$bin/hindcast-load" "$work/alone/"
printf '#!/bin/sh\necho "hindcastd: it cannot" >&2\nexit 2\n' >"$work/alone/hindcastd"
chmod +x "$work/alone/hindcastd"
"$work/alone/hindcast-load" --spawn --duration 1 >"$work/out" 2>"$work/err" || status=$?
check "hindcast-load prints why its server does not start" \
    sh -c "test $status = 1 && grep -q 'hindcastd: it cannot' '$work/err' && grep -q 'did not start' '$work/err'"

serve taken
taken=$pid
status=0
"$bin/hindcastd" --dev --bind 127.0.0.1 --port "$port" >"$work/out" 2>"$work/err" || status=$?
check "a port that is taken: exit status 1 and a sentence" \
    sh -c "test $status = 1 && grep -q -e '--port $port: Address already in use' '$work/err'"
kill -TERM "$taken"
finish "$taken"
end
