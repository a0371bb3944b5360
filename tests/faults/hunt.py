"""Bounded runs of test programs, and of hc_storm, which stops at the first seed that fails."""

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

SILENT_S = 30  # a storm that ends no seed for so long is stuck
MEMORY_KB = 3 << 20
FAILED = re.compile(r"FAILED seed (\d+): \w+, oracle ([^,]+), tick \d+: (.*)")
TRACE = re.compile(r"(\d+) ([0-9a-f]{16})$")
HISTORY = re.compile(r"^(history \d+) of seed.*?((?:differs at|crashed).*)", re.MULTILINE)
CHECK_FAILED = re.compile(r"^\S+:\d+:[FE]:[^:]*:(.*)", re.MULTILINE)
LIMITED = ("sh", "-c", f'ulimit -c 0; ulimit -v {MEMORY_KB}; exec "$@"', "sh")


def kill_session(leader: int) -> None:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            # After the name in parentheses: state, parent, group, session.
            if int(entry.read_text().rpartition(")")[2].split()[3]) == leader:
                os.kill(int(entry.parent.name), signal.SIGKILL)


class Processes:
    """Running programs; each leads a session of its own, so that its children end with it."""

    def __init__(self):
        self.running: set[subprocess.Popen] = set()
        self.stopped = False

    def begin(self, command: list[str], **streams) -> subprocess.Popen:
        if self.stopped:
            sys.exit("interrupted")
        process = subprocess.Popen([*LIMITED, *command], stdin=subprocess.DEVNULL,
                                   start_new_session=True, **streams)
        self.running.add(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        """It, and all processes of its session: Check's tests lead groups of their own."""
        kill_session(process.pid)
        process.wait()
        self.running.discard(process)
        if self.stopped:
            sys.exit("interrupted")

    def stop(self, *_signal) -> None:
        self.stopped = True
        for process in list(self.running):
            kill_session(process.pid)
        sys.exit("interrupted")

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.stop)


processes = Processes()


def failure_of(command: list[str], directory: str, bound_s: float) -> str | None:
    """Runs a test. None: it passed. Otherwise why it did not, also when it took longer than the
    bound."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CK_")}
    environment["CK_DEFAULT_TIMEOUT"] = str(int(bound_s) + 1)
    with tempfile.TemporaryFile() as output:
        process = processes.begin(command, cwd=directory, env=environment, stdout=output,
                                  stderr=subprocess.STDOUT)
        try:
            status = process.wait(bound_s)
        except subprocess.TimeoutExpired:
            return f"does not end in {bound_s:.0f} s"
        finally:
            processes.end(process)
        if status == 0:
            return None
        output.seek(0)
        text = output.read().decode(errors="replace").strip()
    if found := CHECK_FAILED.search(text):
        return found[1]
    if found := HISTORY.search(text):
        return f"{found[1]} {found[2]}"
    last = text.splitlines()[-1] if text else ""
    return last if status > 0 and last else f"exit status {status}: {last}"


class Hunt(NamedTuple):
    failure: str | None  # seed, oracle and text of the first failure; None: all passed
    traces: dict[str, str]  # by seed


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


def hunt(program: Path, first: int, last: int) -> Hunt:
    """Plays the seeds in order, up to the first that fails."""
    command = [str(program), "--trace", "--seeds", f"{first}..{last}", "--jobs", "1"]
    traces: dict[str, str] = {}
    failure = None
    with tempfile.TemporaryFile() as errors:
        process = processes.begin(command, stdout=subprocess.PIPE, stderr=errors)
        for line in lines_of(process):
            if line is None:
                failure = f"seed {first + len(traces)}: the match does not end"
                break
            if found := FAILED.match(line):
                failure = f"seed {found[1]}: {found[2]}: {found[3]}"
                break
            if trace := TRACE.match(line):
                traces[trace[1]] = trace[2]
        processes.end(process)
        process.stdout.close()
        if failure is None and len(traces) != last - first + 1:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit status {process.returncode}"
            failure = f"seed {first + len(traces)}: crash: {why}"
    return Hunt(failure, traces)
