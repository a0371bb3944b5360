#!/usr/bin/env python3
"""Measures what a crowd at the admin face costs the ticks: measure_admin.py DIRECTORY_OF_PROGRAMS [--rounds N]

A daemon plays 64 light clients and 8 bots. Windows of 5 s are calm and attacked in turn, so that both meet the same
machine. An attacked window has 10 scrapes of /metrics a second, 10 readers of /events of which one never
reads, a port scanner, and 2,000 half-open connections more each second, up to 10,000. In each window a newcomer
joins. Prints the lateness of ticks, the answers to scrapes, the joins and the memory. Takes about two minutes.
"""
import argparse
import json
import os
import re
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import time

from measure_programs import Programs

WINDOW_S, CLIENTS, BOTS, HALVES, READERS, SCRAPES_S = 5, 64, 8, 10000, 10, 10
HALVES_S, SCANS_S = 2000, 100
FIRST_WINDOWS = 2  # in which clients join
LIMIT = 1.2


def connect(port):
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    return connection


class Attack:
    """The crowd, in a process of its own, until it is ended."""
    PARTS = (b"", b"G", b"GET /status HTTP/1.1\r\nHost: localhost\r\n", b"POST /kick HTTP/1.1\r\nContent-Length: 6\r\n")

    def __init__(self, port, events):
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        self.port, self.halves = port, []
        self.selector, self.scrapes = selectors.DefaultSelector(), {}
        self.answered, self.asked, self.slowest = 0, 0, 0.0
        self.readers = [self.ask(events) for _ in range(READERS)] if events else []
        for reader in self.readers[1:]:  # the first one never reads
            self.selector.register(reader, selectors.EVENT_READ)

    def ask(self, path):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
        connection.setblocking(False)
        return connection

    def scrape(self):
        connection = self.ask("/metrics")
        self.scrapes[connection] = [time.monotonic(), 0, b""]
        self.selector.register(connection, selectors.EVENT_READ)
        self.asked += 1

    def open_half(self):
        half = connect(self.port)
        self.halves.append(half)
        try:
            half.send(self.PARTS[len(self.halves) % len(self.PARTS)])
        except OSError:
            pass  # not connected yet

    def take(self, connection):
        try:
            piece = connection.recv(1 << 16)
        except OSError:
            piece = b""
        scrape = self.scrapes.get(connection)
        if scrape is not None:
            scrape[2] += piece
            length = re.search(rb"Content-Length: (\d+)\r\n(?s:.*?)\r\n\r\n", scrape[2])
            whole = length is not None and len(scrape[2]) >= length.end() + int(length.group(1))
            if not whole and piece:
                return
            self.answered += whole and scrape[2].startswith(b"HTTP/1.1 200 ")
            self.slowest = max(self.slowest, time.monotonic() - scrape[0])
            del self.scrapes[connection]
        elif piece:
            return
        self.selector.unregister(connection)
        connection.close()

    def run(self, seconds):
        begun = time.monotonic()
        scans = 0
        while (now := time.monotonic() - begun) < seconds or self.scrapes and now < seconds + 30:
            if now < seconds:
                while self.asked < now * SCRAPES_S:
                    self.scrape()
                while len(self.halves) < min(now * HALVES_S, HALVES):
                    self.open_half()
                for scans in range(scans, int(now * SCANS_S)):
                    connect(1 + scans * 31 % 65535 if scans % 2 else self.port).close()
            for key, _ in self.selector.select(0.005):
                self.take(key.fileobj)
        print(json.dumps({"asked": self.asked, "answered": self.answered, "slowest_ms": 1e3 * self.slowest,
                          "halves": len(self.halves)}))


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


def next_status(daemon):
    for line in daemon.stderr:
        event = json.loads(line)
        if event["event"] == "status":
            return event
    sys.exit("the daemon has ended")


def join(programs, port, count):
    name = f"newcomer{count}"
    bot = programs.start("hindcast-bot", "--connect", "127.0.0.1:" + port, "--duration", 1, "--json",
                         programs.path(name), stdout=subprocess.DEVNULL, core=1)
    bot.wait()
    try:
        return programs.report(name)["client"]["snapshots"] > 0
    except (OSError, ValueError):
        return False


def measure(options):
    programs = Programs(options.programs)
    daemon, port = programs.serve("daemon", "--admin", "127.0.0.1:0", "--log-level", "info", "--log-format", "json",
                                  "--max-clients", 2 * CLIENTS, "--status-every", WINDOW_S, core=0,
                                  stderr=subprocess.PIPE)
    admin = next(json.loads(line)["at"] for line in daemon.stderr if '"admin-open"' in line).rsplit(":", 1)[1]
    duration = (2 * options.rounds + FIRST_WINDOWS + 3) * WINDOW_S
    load = programs.load("load", "--connect", "127.0.0.1:" + port, "--light", CLIENTS, "--clients", BOTS, "--ramp", 2,
                         "--processes", 1, "--duration", duration, core=1)
    for _ in range(FIRST_WINDOWS):
        next_status(daemon)
    late = {False: [], True: []}
    work = {False: [], True: []}
    attacks, joined = [], {False: 0, True: 0}
    memory = memory_mb(daemon.pid)
    for number in range(2 * options.rounds):
        attacked = number % 2 == 1
        if attacked:
            crowd = subprocess.Popen(["taskset", "-c", "1", sys.executable, os.path.abspath(__file__), "--attack",
                                      admin, "--events", options.events], stdout=subprocess.PIPE, text=True)
        joined[attacked] += join(programs, port, number)
        status = next_status(daemon)
        late[attacked].append(status["tick_late_ms_p99"])
        work[attacked].append(status["tick_work_ms_p99"])
        if attacked:
            attacks.append(json.loads(crowd.communicate()[0]))
            next_status(daemon)  # what is left of the crowd is in this window
    after = memory_mb(daemon.pid)
    report = programs.end("daemon", daemon)
    load.wait()
    for name, of in (("calm", False), ("attacked", True)):
        print(f"{name:9} ticks late p99 {statistics.median(late[of]):7.2f} ms, work p99"
              f" {statistics.median(work[of]):6.2f} ms, {joined[of]} of {options.rounds} newcomers joined")
    ratio = statistics.median(late[True]) / max(statistics.median(late[False]), 0.01)
    print(f"ratio of lateness {ratio:.2f} (limit {LIMIT})")
    print(f"scrapes   {sum(a['answered'] for a in attacks)} of {sum(a['asked'] for a in attacks)} answered, the slowest"
          f" in {max(a['slowest_ms'] for a in attacks):.0f} ms, beside {max(a['halves'] for a in attacks)} half-open"
          f" connections")
    print(f"memory    {memory:.1f} MB before, {after:.1f} MB after; {report['server']['ticks_missed']} ticks missed")
    return ratio <= LIMIT and joined[True] == options.rounds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="?")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--events", default="/inspector/events", help="the path of the events; empty: no readers")
    parser.add_argument("--attack", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attack:
        Attack(options.attack, options.events).run(WINDOW_S)
        return 0
    return 0 if measure(options) else 1


if __name__ == "__main__":
    sys.exit(main())
