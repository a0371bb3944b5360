#!/usr/bin/env python3
"""Reads the inspector's events of hindcastd, as its page does and as an attacker.

usage: inspector.py AT check QUERY COUNT EXPRESSION...  reads COUNT frames; the expressions hold for them
       inspector.py AT await QUERY EVENT EXPRESSION     reads until an event `e` of this name has it
       inspector.py AT refused QUERY CODE [HEADER VALUE]   prints the sentence of the refusal
       inspector.py AT files                            all files of the page, and their headers
       inspector.py AT limit                            as many readers as may be, one more, and one that closes
       inspector.py AT slow                             a reader that reads nothing is closed, another misses nothing
       inspector.py AT burst COUNT                      connections that ask and close at once

In expressions, frames are the frames, f is the newest one, hello the newest hello, sights the sights.
"""
import json
import re
import socket
import sys
import time
from admin import ask, connect

READERS = 16


class Reader:
    """A connection that is sent events; an iterator of their names and objects."""

    def __init__(self, at, query="match=1", small=False, headers=""):
        if small:  # takes little before its window is full
            host, port = at.rsplit(":", 1)
            self.socket = socket.socket()
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.socket.connect((host, int(port)))
            self.socket.settimeout(60)
        else:
            self.socket = connect(at)
        self.socket.sendall(f"GET /inspector/events?{query} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
        self.buffer = b""

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise EOFError
        self.buffer += piece

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def head(self):
        status = int(self.line().split()[1])
        headers = {}
        while line := self.line():
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        return status, headers

    def __iter__(self):
        status, headers = self.head()
        assert status == 200, status
        assert headers["content-type"] == "text/event-stream", headers
        text = b""
        while True:
            size = int(self.line(), 16)
            while len(self.buffer) < size + 2:
                self.more()
            text += self.buffer[:size]
            self.buffer = self.buffer[size + 2:]
            while b"\n\n" in text:
                event, text = text.split(b"\n\n", 1)
                match = re.fullmatch(rb"event: (\w+)\ndata: ([^\n]*)", event)
                if match:
                    yield match[1].decode(), json.loads(match[2])
                else:
                    assert event.startswith(b"retry: "), event


def holds(expression, **names):
    if not eval(expression, names):
        names.pop("__builtins__", None)
        sys.exit(f"{expression}\n{json.dumps(names)[:4000]}")


def check(at, query, count, *expressions):
    frames, sights, hello = [], [], None
    for name, event in Reader(at, query):
        if name == "hello":
            hello = event
        elif name == "sight":
            sights.append(event)
        elif name == "frame":
            frames.append(event)
        if len(frames) >= int(count) and ("client=" not in query or len(sights) >= int(count)):
            break
    ticks = [tick for frame in frames for tick in frame["ticks"]]
    rewinds = [rewind for frame in frames for rewind in frame["rewinds"]]
    for expression in expressions:
        holds(expression, frames=frames, f=frames[-1], hello=hello, sights=sights, ticks=ticks, rewinds=rewinds)


def await_event(at, query, wanted, expression):
    for name, event in Reader(at, query):
        if name == wanted and eval(expression, {"e": event}):
            print(json.dumps(event)[:500])
            return


def refused(at, query, code, *header):
    reader = Reader(at, query, headers=f"{header[0]}: {header[1]}\r\n" if header else "")
    status, headers = reader.head()
    assert status == int(code), status
    while len(reader.buffer) < int(headers["content-length"]):
        reader.more()
    print(reader.buffer.decode().strip())


def files(at):
    status, text, headers = ask(at, "/")
    assert (status, text) == ask(at, "/inspector")[:2] and status == 200, status
    named = set(re.findall(r'(?:src|href)="(/[^"]*)"', text.decode()))
    assert len(named) >= 4, named
    for path in sorted(named):
        status, script, headers = ask(at, path)
        print(path, status, headers["Content-Type"], len(script))
        assert status == 200 and headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, policy
        for more in re.findall(rb'from "\./(\w+\.js)"', script):
            assert ask(at, f"/inspector/{more.decode()}")[0] == 200, more
        # Nothing is asked of another server. The two that are named are in comments.
        others = set(re.findall(rb"https?://[\w./-]+", script)) - {b"https://github.com/leeoniya/uPlot"}
        assert not others, (path, others)
    assert ask(at, "/", "POST", body="")[0] == 405
    assert ask(at, "/", "HEAD")[1] == b""


def accepted(reader):
    return next(iter(reader)) is not None


def limit(at):
    readers = [Reader(at) for _ in range(READERS)]
    assert all(accepted(reader) for reader in readers)
    refused(at, "match=1", 503)
    assert ask(at, "/status")[0] == 200  # other requests are answered
    readers[3].socket.recv(100)
    readers[3].socket.close()
    for _ in range(200):
        status, _headers = Reader(at).head()
        if status == 200:
            return
        time.sleep(0.05)
    sys.exit("the place of a reader that has closed is not free")


def slow(at):
    begun = time.monotonic()
    idle, good = Reader(at, small=True), Reader(at)
    head, ticks, closed = None, 0, False
    for name, event in good:
        if name != "frame":
            continue
        assert event["lost_ticks"] == 0
        for tick in event["ticks"]:
            assert head is None or tick[0] == head + tick[1], (head, tick)
            head, ticks = tick[0], ticks + 1
        closed = closed or is_closed(idle.socket)
        if closed and ticks > 60:
            break
        assert time.monotonic() < begun + 120, "a reader that reads nothing is not closed"
    print(f"closed after {time.monotonic() - begun:.1f} s, {ticks} ticks read beside it")


def is_closed(connection):
    """Whether the other end has ended the connection: TCP's state, as data that is unread hides it."""
    state = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state != 1  # TCP_ESTABLISHED


def burst(at, count):
    for i in range(int(count)):
        connection = connect(at)
        connection.sendall(b"GET /inspector/events?match=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if i % 3 == 0:
            connection.recv(20)
        connection.close()
    assert ask(at, "/healthz")[0] == 200


def main():
    at, verb, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    {"check": check, "await": await_event, "refused": refused, "files": files, "limit": limit, "slow": slow,
     "burst": burst}[verb](at, *rest)


if __name__ == "__main__":
    main()
