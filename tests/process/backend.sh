#!/bin/sh
# deploy/backend.py issues tokens that the server accepts, refuses requests with a status and a sentence,
# serves while other connections are silent, and follows a rotation of keys without a restart. An issuer that was
# written from docs/BACKEND.md without a cryptographic library makes the page's vectors, and tokens that admit.
set -u
. "$(dirname "$0")/lib.inc"

# The Python that has the distribution's packages.
python=/usr/bin/python3
"$python" -c "import nacl" 2>/dev/null || python=python3
keys=$work/keys
backend() {
    timeout 10 "$python" "$here/../../deploy/backend.py" "$@" --hindcastd "$hindcastd"
}

# refused STATUS PATTERN ARGUMENTS...: the backend exits with STATUS, and its last line matches.
refused() {
    wanted=$1 pattern=$2
    shift 2
    matched() {
        cat "$work/err"
        [ "$status" = "$wanted" ] && tail -n 1 "$work/err" | grep -qe "^backend.py: .*$pattern" &&
            ! grep -q Traceback "$work/err"
    }
    status=0
    backend "$@" >"$work/out" 2>"$work/err" || status=$?
    check "the backend does not start: $pattern" matched
}

hindcastd=$bin/hindcastd
"$hindcastd" key --key-file "$keys" >"$work/out"
refused 1 "No such file" "$work/nowhere" 0
refused 1 "key file '$work': .*directory" "$work" 0
for mode in 604 660 620; do
    chmod $mode "$keys"
    refused 1 "others may use it (mode $mode)" "$keys" 0
done
chmod 600 "$keys"
digits=$(sed -n 's/^0 //p' "$keys")
bad() {
    (umask 077 && printf "%b" "$1" >"$work/bad")
    refused 1 "$2" "$work/bad" 0
}
bad "# none\n\n" "one or two keys"
bad "7 0123\n" "must be a number in \[0, 255\] and 64"
bad "256 $digits\n" "must be a number in \[0, 255\] and 64"
bad "7 $digits more\n" "must be a number in \[0, 255\] and 64"
bad "7 $digits\n7 $digits\n" "of different numbers"
bad "7 $digits\n8 $digits\n9 $digits\n" "one or two keys"
refused 2 "must be in \[0, 65535\]" "$keys" 65536
refused 2 "required: KEY_FILE"
refused 2 "argument --rate: '0': must be in \[1, 10000\]" "$keys" 0 --rate 0
refused 2 "argument --timeout: 'x': must be in \[1, 60\]" "$keys" 0 --timeout x
hindcastd=$work/nowhere refused 1 "nowhere cannot be run" "$keys" 0
hindcastd=/bin/true refused 1 "/bin/true prints no protocol_id" "$keys" 0
hindcastd=$bin/hindcastd

serve_with server --key-file "$keys" --port 0
server=$pid
# back NAME OPTIONS...: starts a backend; sets $backend and $at, its port.
back() {
    name=$1
    shift
    "$python" "$here/../../deploy/backend.py" "$keys" 0 --hindcastd "$hindcastd" "$@" \
        >"$work/$name.out" 2>"$work/$name.err" &
    backend=$!
    running="$running $backend"
    await grep -q listening "$work/$name.out"
    at=$(sed 's/.*127.0.0.1:\([0-9]*\);.*/\1/' "$work/$name.out")
}
back backend --rate 10000 --timeout 2
cat >"$work/ask.py" <<'END'
import http.client, re, socket, sys, time
port = int(sys.argv[1])

def ask(body="user=ada", method="POST", path="/token", timeout=60, **headers):
    """Status, text and headers of the answer."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    c.request(method, path, body, headers)
    r = c.getresponse()
    return r.status, r.read().decode(), r.headers

def refused(status, *args, **more):
    got, text, headers = ask(*args, **more)
    assert got == status, (got, text)
    assert method_has_no_body(more) or re.fullmatch(r"[A-Z][^\n<>]+\.\n", text), text
    assert headers["Content-Type"].startswith("text/plain"), headers
    return headers

def method_has_no_body(more):
    return more.get("method") == "HEAD"

def raw(*parts):
    """Sends raw bytes and returns the answer until the backend closes."""
    s = socket.create_connection(("127.0.0.1", port), timeout=60)
    for part in parts:
        s.sendall(part)
    answer = b""
    while got := s.recv(4096):
        answer += got
    return answer.decode()
END
ask() {
    { cat "$work/ask.py" && cat; } >"$work/script.py"
    "$python" "$work/script.py" "$at"
}
token_of() {
    echo "print(ask('user=$1')[1], end='')" | ask >"$work/$1"
    [ "$(wc -c <"$work/$1")" = 369 ]
}
# plays NAME: a bot plays with the token in the file NAME.
plays() {
    start player hindcast-bot --connect "127.0.0.1:$port" --token "$work/$1" --duration 2
    finish "$pid"
    check "the server accepts it" report player 'c["left"] == 1 and c["snapshots"] > 20'
}

check "a user gets a token" token_of ada
plays ada
check "each refusal has its status and a sentence" ask <<'END'
refused(403, "user=eve")
refused(403, "name=ada")
for body in "", "ada", "user=%ff", b"user=\xff", "user=ada&x":
    refused(400, body)
for body in "{", "[]", "{}", '"user"', '{"user": 1}', '{"user": "ada"} x', 4000 * "[", 700 * '{"a":', b"\xff", "NaN":
    refused(400, body, Content_Type="application/json")
for body in '{"user": "\\ud800"}', '{"user": "\\u0000ada"}', '{"user": "\u202eada"}'.encode(), '{"USER": "ada"}':
    refused(403, body, Content_Type="application/json")
assert ask('{"user": "ada"}', Content_Type="application/json; charset=utf-8")[0] == 200
refused(403, "user=%C3%A9%00")
for path in "/other", "/../etc/passwd", "/token/../../etc/passwd", "/token%00", "/token?user=ada", "token":
    refused(404, path=path)
refused(404, path="/other", method="GET")
for method in "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS":
    assert refused(405, None, method=method)["Allow"] == "POST"
refused(413, "user=" + 4096 * "a")
assert ask("user=ada&x=" + (4096 - 11) * "a")[0] == 200
refused(501, method="BREW")
def first(request): return raw(request).split("\r\n")[0]
assert " 411 " in first(b"POST /token HTTP/1.0\r\n\r\n")
assert " 413 " in first(b"POST /token HTTP/1.0\r\nContent-Length: 99999999999999999\r\n\r\n" + 4096 * b"a")
for length in b"x", b"-1", b"1e3", b"9" * 5000:
    assert " 400 " in first(b"POST /token HTTP/1.0\r\nContent-Length: %b\r\n\r\n" % length), length
assert " 400 " in first(b"POST /token HTTP/x\r\n\r\n")
assert " 400 " in first(b"POST /token HTTP/1.0\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\nuser=ada")
assert " 501 " in first(b"POST /token HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nuser=ada\r\n0\r\n\r\n")
assert " 431 " in first(b"POST /token HTTP/1.0\r\n" + 150 * b"a: b\r\n" + b"\r\n")
assert " 400 " in first(b"\x16\x03\x01\x02\0\x01\0\r\n\r\n")
END
check "silent and slow connections delay no other, and end after the time of a request" ask <<'END'
starts = [b"", b"POST /tok", b"POST /token HTTP/1.0\r\nContent-Length: 8\r\n\r\nuser"]
slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(25)]
begin = time.monotonic()
for i, s in enumerate(slow):
    s.sendall(starts[i % 3])
    s.setblocking(False)
for _ in range(10):
    assert ask()[0] == 200
ended = set()
while len(ended) < 25 and time.monotonic() - begin < 60:
    for s in slow:
        try:
            s is slow[1] and s.sendall(b"P")
            if s not in ended and b"" == s.recv(4096):
                ended.add(s)
        except BlockingIOError:
            pass
        except ConnectionError:
            ended.add(s)
    time.sleep(0.1)
assert len(ended) == 25, len(ended)
answer = raw(starts[2])
assert " 408 " in answer.split("\r\n")[0] and answer.endswith(".\n"), answer
END
peak_kb() {
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$backend/status"
}
before=$(peak_kb)
check "a request with a long head is refused, and takes no memory" ask <<'END'
line = b"X: " + 60000 * b"a" + b"\r\n"
many = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(100)]
for s in many:
    try:
        s.sendall(b"POST /token HTTP/1.0\r\n" + 90 * line + b"\r\n")
    except ConnectionError:
        pass  # it was refused before it was sent
assert ask()[0] == 200
def first(request): return raw(request).split("\r\n")[0]
assert " 431 " in first(b"POST /token HTTP/1.0\r\n" + 9000 * b"x" + b": 1\r\n\r\n")
assert " 414 " in first(b"GET /" + 9000 * b"x" + b" HTTP/1.0\r\n\r\n")
END
check "a thousand connections at once delay nobody, and the oldest end" ask <<'END'
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
many = [socket.create_connection(("127.0.0.1", port), timeout=60, source_address=("127.0.1.%d" % (1 + i % 40), 0))
        for i in range(1000)]
assert ask()[0] == 200
assert many[0].recv(10) == b""
END
check "an address that opens connection after connection ends its own, and nobody else's" ask <<'END'
other = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=("127.0.0.2", 0))
other.sendall(b"POST /token HTTP/1.0\r\nContent-Length: 8\r\n\r\n")
many = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(100)]
assert many[0].recv(10) == b""
other.sendall(b"user=ada")
assert b" 200 " in other.recv(100)
END
after=$(peak_kb)
check "the backend takes at most 64 MB more for them" test $((after - before)) -le 65536
main=$backend main_at=$at
back proxied --rate 1 --connections 8 --proxy --timeout 60
check "an address beyond its rate is refused, and another one is not" ask <<'END'
def until_refused(address):
    asked = 1
    while (status := ask(X_Forwarded_For=address(asked))[0]) == 200 and asked < 200:
        asked += 1
    assert status == 429 and asked > 20, (status, asked)
until_refused(lambda i: "203.0.113.7")
assert ask(X_Forwarded_For="203.0.113.8, 203.0.113.7")[0] == 429
assert refused(429, X_Forwarded_For="203.0.113.7")["Retry-After"] == "1"
assert ask(X_Forwarded_For="203.0.113.7, 203.0.113.8")[0] == 200
until_refused(lambda i: "2001:db8::%x" % i)
assert ask(X_Forwarded_For="2001:db8:0:1::1")[0] == 200
for bad in "", "nobody", "203.0.113.9,", "203.0.113.999":
    refused(400, X_Forwarded_For=bad)
refused(400)
END
check "threads are as many as may connect, twice at most, also if the clients go on and on" ask <<END
import os
most, kept = 0, []
for _ in range(300):
    kept.append(socket.create_connection(("127.0.0.1", port)))
    most = max(most, len(os.listdir("/proc/$backend/task")))
assert 8 <= most <= 17, most
END
check "its log has some lines a second" test "$(wc -l <"$work/proxied.err")" -le 400
backend=$main at=$main_at

chmod 644 "$keys"
check "a key file that others may use is refused with 503" ask <<'END'
refused(503)
refused(403, "user=eve")
END
chmod 600 "$keys"
check "once it is private the backend uses it again" token_of ada

page=$here/../../docs/BACKEND.md issuer=$here/issuer.py
check "the page's vectors follow from their fields" python3 "$issuer" check "$page"
sed 's/^\(    token  *\)0105/\10106/' "$page" >"$work/page"
check "a vector with another byte is found" sh -c "! python3 '$issuer' check '$work/page'"
check "the page's issuer issues a token" sh -c "python3 '$issuer' issue '$keys' \
    \"\$('$hindcastd' protocol-id)\" 424242 'Jürgen' >'$work/stranger'"
plays stranger
check "for the user that it names" grep -q 'joined .*424242' "$work/server.err"

key_id() {
    "$python" -c 'import base64, sys; print(base64.urlsafe_b64decode(sys.stdin.read()[:4])[1])' <"$work/$1"
}
"$hindcastd" key --key-file "$keys" >"$work/out"
check "after a key is published a user gets a token" token_of grace
check "this token has the used key" test "$(key_id grace)" = 0
plays grace
kill -HUP "$server"
sleep 0.3
"$hindcastd" key --use --key-file "$keys" >"$work/out"
check "after the published key is used a user gets a token" token_of grace
check "this token has the new key" test "$(key_id grace)" = 1
plays grace
check "the backend printed no traceback" sh -c "! grep -A 20 Traceback '$work/backend.err' '$work/proxied.err'"
check "the backend is still running" kill -0 "$backend"
end
