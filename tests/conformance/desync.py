"""Checks the server's answers to COMPARE."""
from compare import hashes_of, read_differs
from harness import *


def ask(c, s, hashes):
    """Asks about a snapshot; the answers that have come when the server has acknowledged the question."""
    before = len(c.messages)
    c.send([COMPARE, s.as_of, b"".join(h.to_bytes(2, "little") for h in hashes)])
    settle(c)
    c.send()                                                # an answer may come after the acknowledgement
    settle(c)
    return [read_differs(c.reader, m) for m in c.messages[before:] if m[0] == DIFFERS]


def answers(c):
    """Whether the newest snapshot is still there when its question comes, and what the server answers to it."""
    s = c.snaps[-1]
    right, units = hashes_of(c.reader, s), sorted(s.units)
    told = []
    for i in (0, len(units) - 1):
        wrong = [h ^ (k == i) for k, h in enumerate(right)]
        told.append(ask(c, s, wrong))
        if told[-1] != [(s.as_of, units[i], s.units[units[i]].ents)]:
            return False, told
    return ask(c, s, right) == [], told


def compares(t):
    told, good = None, False
    for _ in range(10):                                     # the server has a snapshot for a second
        c = t.join(extrapolations=0)                        # this client knows all values
        wait(lambda: len(c.snaps) >= 20, c, play=True)
        good, told = answers(c)
        if good:
            break
        c.send([CLOSE, 1])
    check("compare.first-unit-that-differs", good, told)
    other = c.snaps[-1]
    other.as_of += 1 << 20
    check("compare.unknown-snapshot.nothing", not (a := ask(c, other, [1])), a)
    before = len(c.messages)
    for _ in range(40):
        wait(lambda n=len(c.snaps): len(c.snaps) > n, c, play=True)
        s = c.snaps[-1]
        ask(c, s, [h ^ 1 for h in hashes_of(c.reader, s)])
    count = sum(m[0] == DIFFERS for m in c.messages[before:])
    check("compare.at-most-16-answers", 1 <= count <= 16 - 4 and not c.bad and c.closed is None, (count, c.bad[:2]))
    c.send([CLOSE, 6, 0, 65535, 255, 0, 0])
