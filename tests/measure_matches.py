#!/usr/bin/env python3
"""Measures many matches in one daemon: measure_matches.py DIRECTORY_OF_PROGRAMS [--matches N] [--seconds S]

Each match has 8 light clients in every run:
  one daemon       all matches, with two workers
  processes        a daemon for each match, with a load test of its own
  storm            one daemon; match 1 simulates the whole history again at every tick
  workers          the most light clients that one daemon holds with one and with two workers
Needs the machine for itself: its load tests use the same processors. Takes about two and a half minutes.
"""
import argparse
import statistics

from measure_programs import Programs

CLIENTS, WORKERS, RAMP, ROUNDS = 8, 2, 2, 3
parser = argparse.ArgumentParser()
parser.add_argument("programs")
parser.add_argument("--matches", type=int, default=64)
parser.add_argument("--seconds", type=int, default=10)
parser.add_argument("--step", type=int, default=128, help="light clients of a step of `workers`; 0: without")
options = parser.parse_args()
programs = Programs(options.programs)


def load(ports, clients):
    """Plays a load test for each of the ports, with so many clients in any matches; returns their reports."""
    loads = [programs.load(f"load{i}", "--connect", "127.0.0.1:" + port, "--match", 0, "--light", clients,
                           "--clients", 0, "--processes", 1, "--ramp", RAMP, "--duration", options.seconds)
             for i, port in enumerate(ports)]
    for each in loads:
        each.wait()
    return [programs.report(f"load{i}") for i in range(len(loads))]


def show(name, reports, lateness, loads):
    cpu = sum(r["server"]["cpu_ms"] / r["duration_ms"] for r in reports)
    memory = sum(r["server"]["resident_bytes"] for r in reports) / 1e6
    ticks = sum(r["server"]["client_ticks"] for r in reports)
    each = 1e3 * sum(r["server"]["cpu_ms"] for r in reports) / max(ticks, 1)
    print(f"{name:12} {cpu:6.2f} cores  {each:6.1f} us a client-tick  {memory:7.1f} MB  lateness p99"
          f" {statistics.median(lateness):6.2f} ms (median match), {max(lateness):6.2f} ms (worst)"
          f"  {sum(r['load']['held']['ok'] for r in loads)} of {len(loads)} loads held"
          f"  {sum(r['load']['cpu_ms'] / r['duration_ms'] for r in loads):.2f} cores of the load tests", flush=True)


def run_daemon(name, *more):
    """One daemon with all matches; returns the p99 lateness of each match."""
    daemon, port = programs.serve(name, "--matches", options.matches, "--workers", WORKERS,
                                  "--max-clients", CLIENTS, *more)
    loads = load([port], CLIENTS * options.matches)
    report = programs.end(name, daemon)
    late = [m["tick_lateness_ms"]["p99"] or 0 for m in report["matches"]]
    show(name, [report], late[1:], loads)
    return late


def run_processes():
    daemons = [programs.serve(f"process{i}", "--max-clients", CLIENTS) for i in range(options.matches)]
    loads = load([port for _, port in daemons], CLIENTS)
    reports = [programs.end(f"process{i}", daemon) for i, (daemon, _) in enumerate(daemons)]
    show("processes", reports, [r["server"]["tick_lateness_ms"]["p99"] for r in reports][1:], loads)


def held(workers):
    """The most light clients that a daemon with so many workers holds."""
    matches = 1000 // CLIENTS
    daemon, port = programs.serve("held", "--matches", matches, "--workers", workers,
                                  "--max-clients", CLIENTS)
    programs.load("steps", "--connect", "127.0.0.1:" + port, "--light", options.step, "--clients", 0, "--step",
                  options.step, "--until", matches * CLIENTS, "--duration", 3).wait()
    programs.end("held", daemon)
    return programs.report("steps")["steps_verdict"]["held_clients"]


before, after = [], []
for _ in range(ROUNDS):  # in turn, because the machine is not alike all the time
    before += run_daemon("one daemon")[1:]
    after += run_daemon("storm", "--force-rewind", 64, "--force-rewind-match", 1)[1:]
run_processes()
ratio = statistics.median(after) / max(statistics.median(before), 0.001)
print(f"a storm in match 1: the p99 lateness of the others is {ratio:.2f} times that without it (aim: at most 1.2)")
if options.step > 0:
    one, two = held(1), held(WORKERS)
    print(f"held: {one} clients with 1 worker, {two} with {WORKERS}: {two / max(one, 1):.2f} times")
