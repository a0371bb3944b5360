#!/usr/bin/env python3
"""Asks the admin face of hindcastd, as its owner and as an attacker.

usage: admin.py AT get PATH [PASSWORD]        prints the body; exit status 1 unless the answer is 200
       admin.py AT post PATH BODY [TYPE]      prints the status of the answer to an order
       admin.py AT code PATH [PASSWORD]       prints the status of the answer
       admin.py AT hostile                    what must be refused is refused, and the face goes on
       admin.py AT crowd SECONDS              200 half-open connections and slow readers, and requests beside them
       admin.py AT guess COUNT                as many wrong passwords

AT is ADDRESS:PORT or unix:/PATH.
"""
import base64
import http.client
import json
import socket
import sys
import time

TIMEOUT = 60


def connect(at):
    if at.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT)
        connection.connect(at[len("unix:"):])
        return connection
    host, port = at.replace("[", "").replace("]", "").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=TIMEOUT)


class Connection(http.client.HTTPConnection):
    def __init__(self, at):
        super().__init__("localhost", timeout=TIMEOUT)
        self.at = at

    def connect(self):
        self.sock = connect(self.at)


def ask(at, path, method="GET", headers=None, password=None, body=None):
    connection = Connection(at)
    headers = dict(headers or {})
    if password is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(f"admin:{password}".encode()).decode()
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text, answer.headers


def raw(at, request):
    """Status of the answer to these bytes; 0: the connection was closed without one."""
    connection = connect(at)
    try:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while b"\r\n" not in answer:
            piece = connection.recv(4096)
            if not piece:
                return 0
            answer += piece
        return int(answer.split()[1])
    except OSError:  # reset while it was still sent to
        return 0
    finally:
        connection.close()


def must(what, found, allowed):
    print(f"{what}: {found}")
    if found not in allowed:
        sys.exit(f"must be one of {allowed}")


def hostile(at):
    for path in ("/nothing", "/inspector/", "/inspector/nothing", "/inspector/../status", "/metrics/", "/../../etc/passwd", "/%2e%2e/metrics", "/metrics%00"):
        must(path, ask(at, path)[0], (404,))
    must("//metrics", ask(at, "//metrics")[0], (403, 404))  # the name of another host
    for path in ("/metrics", "/healthz", "/readyz", "/status"):
        must(f"POST {path}", ask(at, path, "POST", body="x")[0], (405,))
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            must(f"{method} {path}", ask(at, path, method)[0], (400, 405, 501))
    status, text, headers = ask(at, "/metrics", "HEAD")
    must("HEAD", (status, text, int(headers["Content-Length"]) > 1000), ((200, b"", True),))
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[::2]", "", "a b"):
        must(f"Host: {host}", ask(at, "/status", headers={"Host": host})[0], (400, 403))
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80"):
        must(f"Host: {host}", ask(at, "/healthz", headers={"Host": host})[0], (200,))
    for path, body in (("/kick", "user=1"), ("/say", "text=a"), ("/ban", "user=1"), ("/reload", ""), ("/restart", ""), ("/trace", "file=off"), ("/drain", "seconds=1"), ("/snapshot-rate", "hz=1")):
        must(f"GET {path}", ask(at, path)[0], (405,))
        for origin in ("http://evil.example", "null", "http://localhost.evil.example", "https://localhost"):
            must(f"Origin: {origin}", ask(at, path, "POST", {"Origin": origin}, body=body)[0], (403,))
    for body in ("", "user", "user=", "user=x", "user=-1", "user=1&user=2", "user=1&more=2", "uid=1", "user=" + "9" * 30,
                 "user=1" + "0" * 5000, "user=%00"):
        must(f"kick {body[:20]}", ask(at, "/kick", "POST", body=body)[0], (400,))
    for body in ("", "{}", "[1]", "{\"user\": 1.5}", "{\"user\": null}", "{\"user\": {\"user\": 1}}", "[" * 4000,
                 "{\"user\": 1, \"user\": 2}", "{\"user\": \"1\\u0000\"}"):
        must(f"kick {body[:20]}", ask(at, "/kick", "POST", {"Content-Type": "application/json"}, body=body)[0], (400,))
    must("no Host", raw(at, b"GET /status HTTP/1.0\r\n\r\n"), (400, 403))
    must("another host in the line", raw(at, b"GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\n\r\n"), (403,))
    must("long path", raw(at, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), (0, 400, 413))
    must("long header", raw(at, b"GET /status HTTP/1.1\r\nHost: localhost\r\nA: " + b"b" * 100000 + b"\r\n\r\n"), (0, 400, 413))
    must("many headers", raw(at, b"GET /status HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n"), (0, 400, 413))
    must("long body", raw(at, b"POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n"), (0, 400, 413))
    must("a negative length", raw(at, b"POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"), (0, 400, 413, 501))
    must("no HTTP", raw(at, b"\x16\x03\x01\x02\x00" + bytes(range(256))), (0, 400, 501))
    must("afterwards", ask(at, "/healthz")[0], (200,))


def crowd(at, seconds):
    halves, readers, statuses = [], [], set()
    end = time.monotonic() + seconds
    asked = 0
    while time.monotonic() < end:
        while len(halves) < 200:
            half = connect(at)
            half.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\n")
            halves.append(half)
        if len(readers) < 20:
            reader = connect(at)
            reader.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            readers.append(reader)
        for half in halves[:20]:
            half.close()
        halves = halves[20:]
        for path in ("/status", "/metrics", "/healthz", "/readyz"):
            statuses.add(ask(at, path)[0])
            asked += 1
        time.sleep(0.1)
    print(asked, statuses)
    if statuses != {200}:
        sys.exit("a request beside the crowd was not answered")


def guess(at, count):
    begun = time.monotonic()
    statuses = [ask(at, "/status", password=f"guess number {n:08}")[0] for n in range(count)]
    looked_at, most = statuses.count(401), 11 + time.monotonic() - begun
    print(looked_at, most)
    if looked_at + statuses.count(429) != count:
        sys.exit("a wrong password was taken")
    if looked_at > most:
        sys.exit("too many wrong passwords were looked at")


def main():
    at, verb, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if verb in ("get", "code"):
        status, text, headers = ask(at, rest[0], password=rest[1] if len(rest) > 1 else None)
        sys.stdout.write(text.decode() if verb == "get" else f"{status}\n")
        if verb == "get" and headers["Content-Type"] == "application/json":
            json.loads(text)
        sys.exit(0 if verb == "code" or status == 200 else 1)
    elif verb == "post":
        headers = {"Content-Type": rest[2]} if len(rest) > 2 else {}
        print(ask(at, rest[0], "POST", headers, body=rest[1])[0])
    elif verb == "hostile":
        hostile(at)
    elif verb == "crowd":
        crowd(at, float(rest[0]))
    else:
        guess(at, int(rest[0]))


if __name__ == "__main__":
    main()
