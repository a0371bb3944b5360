#!/bin/sh
# The owner of a server tells its players something, by hindcastctl and by HTTP: to all, to a match, to a
# user, and that it drains. Bots print each notice once.
set -u
. "$(dirname "$0")/lib.inc"

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
# tokens FILE FIRST_USER MATCH: two users' tokens for a match.
tokens() {
    "$bin/hindcastd" token --key-file "$work/keys" --count 2 --client-id "$2" --match "$3" --life 3600 >"$work/$1"
}
tokens first 1 1
tokens second 3 2
serve_with talks --key-file "$work/keys" --port 0 --matches 2 --workers 2 --admin "unix:$work/admin" --log-format text
server=$pid
start one hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/first" --latency 30 --jitter 10 --loss 20
one=$pid
start two hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/second"
two=$pid
check "four users play" await shows "$work/talks.err" " joined " 4
ctl() {
    status=0
    "$bin/hindcastctl" --admin "unix:$work/admin" "$@" >"$work/ctl" 2>&1 || status=$?
    cat "$work/ctl"
}
# exits STATUS PATTERN ARGUMENTS...: hindcastctl exits so, with a line like that.
exits() {
    expected=$1 pattern=$2
    shift 2
    ctl "$@"
    [ "$status" = "$expected" ] && grep -q "$pattern" "$work/ctl"
}
heard() { await grep -qF "the server says: $2" "$work/$1.err"; }

words='100% of a & b = "c" + Jürgen, 5 €?'
check "the owner says something to all" exits 0 "^said$" say "$words"
check "the log has it" grep -q " notice text=" "$work/talks.err"
check "the players of one match hear it" heard one "$words"
check "and those of the other" heard two "$words"
check "the owner says something to a match" exits 0 "^said$" say "to match 2" match=2
check "and to a user" exits 0 "^said$" say "to user 1" user=1
check "and to a user in a match" exits 0 "^said$" say "to user 4" match=2 user=4
check "the match hears it" heard two "to match 2"
check "the user does" heard one "to user 1"
check "and the other user" heard two "to user 4"
says_lines() {
    printf '%s\n' 'nonsense' 'say "from the console" match=2' '' exit 'say "after the end"' |
        "$bin/hindcastctl" --admin "unix:$work/admin" console >"$work/console" 2>&1
    [ $? -eq 2 ] && grep -q "unknown command 'nonsense'" "$work/console" && grep -q '^said$' "$work/console"
}
check "the console runs each line, tells of a wrong one, and ends at exit" says_lines
check "its words are heard" heard two "from the console"
request() {
    python3 - "$work/admin" "$@" <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
body = sys.argv[4].encode()
s.sendall(b"POST %s HTTP/1.0\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (
    sys.argv[2].encode(), sys.argv[3].encode(), len(body)) + body)
print(s.makefile("rb").read().decode())
PYTHON
}
request /say application/json '{"text": "in JSON", "match": 1}' >"$work/json"
check "JSON is taken" grep -q "^said" "$work/json"
check "and heard" heard one "in JSON"

check "nobody plays as user 77" exits 1 "no such user plays" say nobody user=77
check "user 1 does not play in match 2" exits 1 "no such user plays" say nobody match=2 user=1
check "there is no match 3" exits 1 "no such match" say nobody match=3
check "an escape sequence is refused" exits 1 "text must be one line" say "$(printf '\033[2J')"
check "and two lines" exits 1 "text must be one line" say "$(printf 'a\nb')"
check "and a text of 201 bytes" exits 1 "text must be one line" say "$(printf '%0201d' 0)"
check "and one of 600" exits 1 "text: must be at most" say "$(printf '%0600d' 0)"
check "and bytes that are no UTF-8" exits 1 "text must be one line" say "$(printf '\377')"
check "and none" exits 1 "text" say ""
check "and a number that is none" exits 2 "needs a number: match" say hello match=two
check "and another parameter" exits 2 "takes these parameters" say hello room=2
check "and a parameter twice" exits 2 "takes these parameters" say hello user=1 user=2
request /say application/x-www-form-urlencoded "text=a&text=b" >"$work/twice"
check "HTTP refuses that too" grep -q "^'text': no such parameter, or it comes twice" "$work/twice"
check "an address has no spaces" exits 1 "where must be" drain 60 "where=example.net 40000"
check "a day is the most" exits 1 "seconds must be at most 86400" drain 86401

check "the server drains" exits 0 "^nobody is admitted" drain 600 where=example.net:40000 "text=more room there"
line="the server ends within 600 s; play on at example.net:40000: more room there"
check "the players are told where to go" await grep -qF "$line" "$work/two.err"
told_late() { grep -qE "ends within (600|5[0-9]{2}) s; play on at example.net:40000: more room there" "$work/one.err"; }
check "on a bad link too" await told_late
check "and the log says where" grep -q " draining seconds=600 clients=4 where=\"*example.net:40000" "$work/talks.err"
kill -TERM "$one" "$two"
finish "$one"
finish "$two"
finish "$server"
once() { [ "$(grep -cF "$2" "$work/$1.err")" = 1 ]; }
for line in "the server says: $words" "the server says: in JSON" "to user 1" "; play on at "; do
    check "'$line' once" once one "$line"
done
check "who was not told does not know" sh -c "! grep -q 'to match 2\\|to user 4' '$work/one.err' && ! grep -q 'to user 1\\|JSON' '$work/two.err'"
check "the reports count the notices" report one \
    '4 <= c["notices"] <= 2 * 3 + 1 and 4 <= of("two")["client"]["notices"] <= 2 * 4 + 1 and of("talks")["server"]["notices"] == 9'
end
