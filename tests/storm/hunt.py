"""The hunt: hc_storm plays seed after seed until something is wrong."""

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SILENT_S = 30  # a program that ends no seed for so long is stuck
MEMORY_KB = 3 << 20
FAILED = re.compile(r"FAILED seed (\d+): \w+, oracle ([^,]+), tick \d+: (.*)")
TRACE = re.compile(r"(\d+) ([0-9a-f]{16})$")


class Outcome(NamedTuple):
    seed: int | None  # that failed first; None: all passed
    oracle: str
    text: str
    other: int  # seeds whose trace is another than that given


class Processes:
    """Running programs; each leads a session of its own, so that its children end with it."""

    def __init__(self):
        self.playing: set[subprocess.Popen] = set()
        self.stopped = False

    def begin(self, command: list[str], errors) -> subprocess.Popen:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        self.playing.add(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        """It, and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.playing.discard(process)
        if self.stopped:
            sys.exit("interrupted")

    def stop(self, *_signal) -> None:
        self.stopped = True
        for process in list(self.playing):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        sys.exit("interrupted")

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.stop)


processes = Processes()


def lines_of(process: subprocess.Popen):
    """The lines of standard output as they come; None after a silence that is too long."""
    waiter, rest = selectors.DefaultSelector(), b""
    waiter.register(process.stdout, selectors.EVENT_READ)
    last = time.monotonic()
    while True:
        if not waiter.select(timeout=1):
            if time.monotonic() - last > SILENT_S:
                yield None
                return
            continue
        last = time.monotonic()
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            return
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)


def hunt(program: Path, first: int, last: int, jobs: int = 1,
         traces: dict[int, str] | None = None) -> tuple[Outcome, dict[int, str]]:
    """Plays the seeds, and returns their traces, too. With `jobs` of 1 they come in order."""
    command = ["sh", "-c", f'ulimit -c 0; ulimit -v {MEMORY_KB}; exec "$@"', "sh", str(program),
               "--trace", "--seeds", f"{first}..{last}", "--jobs", str(jobs)]
    seen: dict[int, str] = {}
    outcome = None
    with tempfile.TemporaryFile() as errors:
        process = processes.begin(command, errors)
        for line in lines_of(process):
            if line is None:
                outcome = (first + len(seen), "endless", "the match does not end")
                break
            if found := FAILED.match(line):
                outcome = (int(found[1]), found[2], found[3])
                break
            if trace := TRACE.match(line):
                seen[int(trace[1])] = trace[2]
        processes.end(process)
        if outcome is None and len(seen) != last - first + 1:
            outcome = (first + len(seen), "crash", f"exit status {process.returncode}")
        if outcome is not None and outcome[1] == "crash":
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            outcome = (*outcome[:2], lines[-1] if lines else outcome[2])
    other = sum(1 for seed, trace in seen.items() if traces is not None and traces[seed] != trace)
    return Outcome(*(outcome or (None, "", "")), other), seen
