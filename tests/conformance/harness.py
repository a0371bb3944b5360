"""Counts checks, waits for conditions, and starts the server that is checked."""
import signal, subprocess, time
from hcast import *

RESULTS, UNPROVEN = [], [0, 0]           # bytes from and to addresses that have proven nothing
LIMIT = Client.LIMIT                     # seconds after which a wait has failed


def result(name, why=None):
    RESULTS.append({"name": name, "ok": why is None, "why": why})
    print("ok %s" % name if why is None else "FAIL %s: %s" % (name, why), flush=True)


def check(name, condition, why="it is not so"):
    result(name, None if condition else str(why))
    return condition


def section(f, *args):
    try:
        return f(*args)
    except (Exception, AssertionError) as e:
        result(f.__name__, "ended by %s: %s" % (type(e).__name__, e))


def wait(condition, *clients, play=False, limit=LIMIT):
    """Receives for the clients until the condition holds; returns whether it does. With `play` each of
    them sends inputs meanwhile."""
    end = time.monotonic() + limit
    while not (done := condition()) and time.monotonic() < end:
        for c in clients:
            if play:
                c.send_inputs(lambda k: [[0, 0, 0, 0]] * len(c.own))
            c.poll(0.01)
    return bool(done)


def settle(c):
    """Until the server has acknowledged the last DATA."""
    return wait(lambda: c.log and c.log[-1][1] >= c.seq, c)


class Server:
    def __init__(self, path, key_file, *options):
        # 100,000 ticks are half an hour: they only end a server that was left running.
        self.p = subprocess.Popen([path, "--bind=127.0.0.1", "--port=0", "--key-file=" + key_file, "--ticks=100000",
                                   "--log-level=warn", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.address = ("127.0.0.1", int(self.p.stdout.readline().rsplit(b":", 1)[1]))

    def stop(self, sig=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(sig)
        self.p.stdout.read()
        self.p.wait()
