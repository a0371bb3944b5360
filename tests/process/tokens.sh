#!/bin/sh
# A client needs a token of the server's key. No other user may have permissions on a key file, and keys
# rotate while the server runs. Clients reconnect after the server was killed and restarted.
set -u
. "$(dirname "$0")/lib.inc"

# fails PATTERN COMMAND...: exit status 1, and a line that matches.
fails() {
    pattern=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] && grep -qe "$pattern" "$work/err" "$work/out"
}

keys=$work/keys
check "a key file is made" "$bin/hindcastd" key --key-file "$keys"
check "for its owner alone" test "$(stat -c %a "$keys")" = 600
check "with one key" test "$(grep -c '^[0-9]* [0-9a-f]\{64\}$' "$keys")" = 1
for mode in 604 606 660 620 644; do
    chmod $mode "$keys"
    check "a key file of mode $mode is refused" fails "may use it (mode $mode): chmod 600 it" \
        "$bin/hindcastd" --key-file "$keys" --port 0
done
chmod 600 "$keys"
check "no key file" fails "No such file" "$bin/hindcastd" --key-file "$work/nowhere" --port 0
check "a directory is none" fails "is no regular file" "$bin/hindcastd" --key-file "$work" --port 0
(umask 077 && echo "7 0123" >"$work/short" && : >"$work/empty")
check "half a key is none" fails "line 1 must be" "$bin/hindcastd" --key-file "$work/short" --port 0
check "nor is an empty file" fails "has no key" "$bin/hindcastd" --key-file "$work/empty" --port 0

serve_with server --key-file "$keys" --port 0 --audience 9 --log-format json
server=$pid
check "a bot without a token requests one only from --dev" fails "no server answers at" \
    "$bin/hindcast-bot" --connect "127.0.0.1:$port" --duration 1
"$bin/hindcastd" token --key-file "$keys" --audience 9 --count 2 --client-id 7 --name "a b" \
    >"$work/tokens"
check "two tokens differ" test "$(sort -u "$work/tokens" | wc -l)" = 2
check "two tokens are too few for three bots" fails "has 2 tokens, but each session needs one of its own" \
    "$bin/hindcast-bot" --connect "127.0.0.1:$port" --count 3 --token "$work/tokens"
start players hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/tokens"
players=$pid
check "both join" await shows "$work/server.err" '"joined"' 2
"$bin/hindcastd" key --key-file "$work/other" >"$work/out"
"$bin/hindcastd" token --key-file "$work/other" --audience 9 >"$work/foreign"
"$bin/hindcastd" token --key-file "$keys" >"$work/elsewhere"
for bad in foreign elsewhere; do
    start $bad hindcast-bot --connect "127.0.0.1:$port" --token "$work/$bad"
    eval "$bad=$pid"
done

# A rotation: the server accepts the next key before tokens are issued with it.
# plays NAME: a bot plays with the token in the file NAME.
plays() {
    start "$1" hindcast-bot --connect "127.0.0.1:$port" --token "$work/$1" --duration 2
    finish "$pid"
    check "a bot plays with a token $1" good "$1"
}
issue() {
    "$bin/hindcastd" token --key-file "$keys" --audience 9 --life 3600 >"$work/$1"
}
keys_in() {
    grep '^[0-9]* [0-9a-f]\{64\}$' "$keys"
}
# unchanged TEXT PATTERN ARGUMENTS...: hindcastd key fails with the pattern and leaves the file.
unchanged() {
    sentence=$1 pattern=$2
    shift 2
    cp "$keys" "$work/before"
    check "$sentence" fails "$pattern" "$bin/hindcastd" key "$@" --key-file "$keys"
    check "the file is unchanged" cmp "$keys" "$work/before"
}

issue issued-first
first=$(keys_in)
unchanged "only a published key can be used" "has no second key: publish one first" --use
check "a key is published, and the next step printed" sh -c "'$bin/hindcastd' key --key-file '$keys' |
    grep -q 'send SIGHUP to every server, then run hindcastd key --use --key-file $keys'"
check "the used key is still the first of two" \
    test "$(keys_in | wc -l) $(keys_in | head -n 1)" = "2 $first"
unchanged "no other key is published before it is used" "key 1 is published already and not used yet"
issue issued-after-publishing
plays issued-after-publishing
kill -HUP "$server"
check "the server reads the keys again" await shows "$work/server.err" '"keys-read"' 1
check "the published key is used" "$bin/hindcastd" key --use --key-file "$keys"
check "the former key is the second" \
    test "$(keys_in | wc -l) $(keys_in | tail -n 1)" = "2 $first"
unchanged "the former key cannot be used again" "key 1 is used already, and key 0 is a former one" --use
issue issued-after-use
check "the new token has another key than the first" \
    test "$(cut -c 1-3 "$work/issued-first")" != "$(cut -c 1-3 "$work/issued-after-use")"
plays issued-after-use
kill -HUP "$server"
check "the server reads the keys a second time" await shows "$work/server.err" '"keys-read"' 2
plays issued-first
check "a third key is published in place of the former one" "$bin/hindcastd" key --key-file "$keys"
check "the third key has number 2" sh -c "grep -c '^[12] ' '$keys' | grep -qx 2"
kill -HUP "$server"
check "the server reads the keys a third time" await shows "$work/server.err" '"keys-read"' 3
start dropped hindcast-bot --connect "127.0.0.1:$port" --token "$work/issued-first"
dropped=$pid
chmod 644 "$keys"
kill -HUP "$server"
check "a key file that others may use changes nothing" await shows "$work/server.err" '"keys-refused"' 1
chmod 600 "$keys"

# The server is killed, and restarted with the same keys.
kill -9 "$server"
finish "$server"
serve_with again --key-file "$keys" --port "$port" --audience 9 --log-format json
again=$pid
check "both clients reconnect" await shows "$work/again.err" '"joined"' 2
check "they need no new token" python3 - "$work/again.err" <<'END'
import json, sys
joined = [e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "joined"]
assert sorted((e["user"], e["name"]) for e in joined) == [("7", "a b"), ("8", "a b")], joined
END
kill -TERM "$players"
finish "$players"
check "they play to the end" report players 'c["left"] == 2 and c["reconnects"] >= 2'
finish "$foreign"
check "a token of another key is refused, with the reason" \
    sh -c "test $status = 1 && grep -q 'cannot open the token: it is of another key' '$work/foreign.err'"
finish "$dropped"
check "a token of the dropped key is refused" \
    sh -c "test $status = 1 && grep -q 'cannot open the token: it is of another key' '$work/dropped.err'"
finish "$elsewhere"
check "a token for another server is refused" \
    sh -c "test $status = 1 && grep -q 'the token is for another server' '$work/elsewhere.err'"
kill -TERM "$again"
finish "$again"
check "the server ends with a good verdict" good again

# The list of refused users closes their connections at once, and refuses their tickets.
echo "no client_id" >"$work/refused"
check "a malformed list is refused" fails "line 1 must be one of at most" \
    "$bin/hindcastd" --key-file "$keys" --port 0 --refused "$work/refused"
: >"$work/refused"
chmod 666 "$work/refused"
check "a list that others may write to is refused" fails "others may write to it" \
    "$bin/hindcastd" --key-file "$keys" --port 0 --refused "$work/refused"
chmod 644 "$work/refused"
serve_with listed --key-file "$keys" --port 0 --refused "$work/refused" --log-format json
listed=$pid
check "the log warns of the default audience" await shows "$work/listed.err" '"default-audience"' 1
"$bin/hindcastd" token --key-file "$keys" --count 2 --client-id 7 >"$work/pair"
"$bin/hindcastd" token --key-file "$keys" --client-id 7 >"$work/seven"
start pair hindcast-bot --connect "127.0.0.1:$port" --count 2 --token "$work/pair"
pair=$pid
check "two users play" await shows "$work/listed.err" '"joined"' 2
printf '# out\n7\n' >"$work/refused"
kill -HUP "$listed"
check "one of them is closed" await shows "$work/listed.err" '"left"' 1
check "it is the user of the list" \
    sh -c "grep '\"left\"' '$work/listed.err' | grep -q '\"user\": *\"7\"'"
start seven hindcast-bot --connect "127.0.0.1:$port" --token "$work/seven" --duration 1
finish "$pid"
check "another token of this user is refused" sh -c "grep -q 'refuses this user' '$work/seven.err'"
echo "not-before $(($(date +%s) + 1))" >"$work/refused"
kill -HUP "$listed"
check "all sessions from before not-before are ended" await shows "$work/listed.err" '"left"' 2
echo "not-before soon" >"$work/refused"
kill -HUP "$listed"
check "an unreadable list changes nothing" \
    await shows "$work/listed.err" '"refused-unreadable"' 1
finish "$pair"
kill -TERM "$listed"
finish "$listed"

# A dev server issues tokens to programs of this machine, and not to web pages.
serve dev --log-format json
dev=$pid
check "requests of a browser are refused" python3 - "$port" <<'END'
import http.client, sys
def ask(method="POST", path="/token", **headers):
    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
    c.request(method, path, headers=headers)
    return c.getresponse()
answer = ask()
assert answer.status == 200 and answer.getheader("Hindcast-Game").startswith("arena "), answer.getheaders()
assert int(answer.getheader("Hindcast-Process"), 16) and int(answer.getheader("Hindcast-Protocol-Id"), 16)
assert len(ask(path="/token?count=3").read().split()) == 3
assert ask(Origin="http://evil.example").status == 403
assert ask(Host="evil.example").status == 403
assert ask(Host=f"evil.example:{sys.argv[1]}").status == 403
assert ask(method="GET").status in (405, 501)
assert ask(path="/token?count=5000").status == 400
assert ask(path="/token?count=x").status == 400
assert len(ask(path="/token?name=J%C3%BCrgen&count=2").read().split()) == 2
for name in ("", "%0A", "%FF", 28 * "a"):
    assert ask(path="/token?name=" + name).status == 400, name
assert ask(path="/other").status == 404
END
start named hindcast-bot --connect "127.0.0.1:$port" --count 2 --name Ada --duration 1
named=$pid
finish "$named"
check "each bot has a name of its own" test "$(grep -o '"name":"Ada [12]"' "$work/dev.err" | sort -u | wc -l)" = 2
kill -TERM "$dev"
finish "$dev"
check "the dev server ends with a good verdict" good dev
end
