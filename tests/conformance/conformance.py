"""Checks a Hindcast server against the standard of HCAST03. One line a check; exit status 1 if any fails.

    /usr/bin/python3 conformance.py [--hindcastd PATH] [--json FILE]
    /usr/bin/python3 conformance.py --server ADDR:PORT --key-file FILE [--audience N]

No check depends on how fast this machine is. A check waits for each message that must come, up to a
limit that only ends a hang. Silence counts once the server has answered a later datagram (`fence`).
Of a period only the lower bound is checked. The report of the server says how late its ticks were, and
no more than these may be without a snapshot.
"""
import argparse, json, os, random, signal, socket, struct, subprocess, sys, tempfile, time
from hcast import *
from harness import *
from desync import compares
from ends import again, denial, leave, second_server, silence
from documents import ARENA, check_documents
from limits import check_limits
from vectors import check_vectors

LOW_ORDER = (bytes(32), b"\1" + bytes(31))                # X25519 keys that give everybody zeros
BATCH = 32                               # probes between two fences: the server has room for all answers


class Tester:
    def __init__(self, address, keys, audience):
        self.address, self.keys, self.audience = address, keys, audience
        self.fences = set()                                 # nonces of all fences
        self.heads_left_out = 0                             # by the server, of one client at most
        self.id = random.getrandbits(40)

    def token(self, client=None, key=0, life=600, **more):
        """(token, secret); key 0 is the used one, 1 the other one that is accepted."""
        self.id += 1
        key_id, key = self.keys[key] if isinstance(key, int) else key
        f = dict(protocol_id=self.pid, expire=int(time.time()) + life, issued=int(time.time()), token_id=os.urandom(16),
                 client_id=client or self.id, secret=os.urandom(32), audience=self.audience, name=b"Ann")
        f.update(more)
        if f.get("kind") == 1:                             # the token_id of a ticket: number, when its session began
            f["token_id"] = struct.pack("<QQ", time.time_ns() // 1000, int(time.time()))
        return seal_token(key, key_id, **f), f["secret"]

    def client(self, players=1, address=None, token=None, continues=None, extrapolations=3, **more):
        return Client(address or self.address, self.pid, *(token or self.token(**more)), ARENA, players, continues,
                      extrapolations=extrapolations)

    def join(self, **more):
        c = self.client(**more)
        c.connect()
        return c

    def fence(self, c):
        """Waits until the server has answered all datagrams sent before; returns those received. It reads
        DATA before handshakes, and HELLOs and CONNECTs each in their order: one of each is answered last."""
        nonces, out = [os.urandom(16), os.urandom(16)], []
        fences = [hello(1, nonces[0]), connect(1, nonces[1], 0, bytes(16), bytes(244), bytes(32))]
        self.fences.update(nonces)
        end = again = time.monotonic()
        while nonces:
            now = time.monotonic()
            assert now < end + LIMIT, "the server does not answer"
            if now >= again:
                again = now + 0.25
                for f in fences:
                    c.raw(f)
            d = c.receive(max(0, again - now))
            if d is not None and d[0] == VERSION and d[16:] in self.fences:
                nonces = [n for n in nonces if n != d[16:]]
            elif d is not None:
                out.append(d)
        return out

    def probe(self, c, datagrams):
        """Sends from an address that has proven nothing; all answers."""
        out = []
        for at in range(0, len(datagrams), BATCH):
            self.fence(c)                                   # datagrams received before are no answers
            for d in datagrams[at:at + BATCH]:
                c.raw(d)
                UNPROVEN[0] += len(d)
            out += self.fence(c)
        UNPROVEN[1] += sum(len(d) for d in out)
        return out

    def probe_connects(self, c, changed, indexes):
        """Probes with changed(CONNECT, index), each with a cookie that is still good."""
        out, indexes = [], list(indexes)
        for at in range(0, len(indexes), BATCH):
            c.send_hello()
            q = c.connect_datagram()
            out += self.probe(c, [changed(q, i) for i in indexes[at:at + BATCH]])
        return out


# ---- 1. The handshake

def handshake(t):
    c = Client(t.address, 0, bytes(244), bytes(32))
    a = t.probe(c, [hello(12345, c.nonce)])
    ok = len(a) == 1 and len(a[0]) == 32 and a[0][:8] == b"\x06" + MAGIC and a[0][16:] == c.nonce
    check("hello.other-protocol-id.version", ok, a)
    t.pid = _rd64(a[0], 8)
    check("protocol-id.of-the-tables", t.pid == ARENA.protocol_id, hex(t.pid))
    for name, magic, kinds in (("other-digits.version", b"HCAST99", [VERSION]), ("other-magic.nothing", b"HCASU01", [])):
        a = t.probe(c, [hello(t.pid, c.nonce, magic)])
        check("hello." + name, [d[0] for d in a] == kinds and all(d[8:] == struct.pack("<Q", t.pid) + c.nonce for d in a), a)
    h = hello(t.pid, c.nonce)
    check("hello.every-shorter-length.nothing", not (a := t.probe(c, [h[:n] for n in range(1200)])), a[:2])
    check("hello.longer.nothing", not (a := t.probe(c, [h + bytes(n) for n in (1, 2, 16, 200)])), a[:2])
    bad = [h[:i] + b"\x01" + h[i + 1:] for i in (32, 33, 500, 1184, 1199)]
    check("hello.zeros-not-zero.nothing", not (a := t.probe(c, bad)), a[:2])
    bad = [bytes([k]) + h[1:] for k in range(256) if k not in (HELLO, CONNECT, DATA)]
    check("unknown-kinds.nothing", not (a := t.probe(c, bad)), a[:2])
    t.stale = (c, t.probe(c, [h]), time.monotonic())
    a = t.stale[1]
    check("cookie.layout", len(a) == 1 and len(a[0]) == 44 and a[0][:8] == b"\x02" + MAGIC and a[0][8:24] == c.nonce, a)
    b = t.probe(c, [h])
    check("cookie.same-slot-same-cookie", b == a or b[0][24:28] != a[0][24:28], (a, b))
    c = t.client()
    probe = lambda changed, indexes: t.probe_connects(c, changed, indexes)
    check("connect.every-shorter-length.nothing", not (a := probe(lambda q, n: q[:n], range(1200))), a[:2])
    check("connect.longer.nothing", not (a := probe(lambda q, n: q + bytes(n), (1, 16, 100))), a[:2])
    flip = lambda q, i: q[:i] + bytes([q[i] ^ 1 << i % 8]) + q[i + 1:]
    spans = (("kind-magic", 0, 8, []), ("protocol-id", 8, 16, [VERSION] * 8), ("nonce-slot-cookie", 16, 52, []),
             ("token", 52, 296, [DENY] * 244), ("players-continues-key-proof", 296, 350, []), ("zeros", 350, 1184, []),
             ("proof", 1184, 1200, []))
    for name, lo, hi, expect in spans:
        a = probe(flip, range(lo, hi))
        check("connect.flipped-bits.%s.%s" % (name, {6: "version", 5: "deny", 0: "nothing"}[(expect or [0])[0]]),
              [d[0] for d in a] == expect, ([d[0] for d in a[:5]], len(a)))
        if expect == [DENY] * 244:
            check("deny.hint.layout", all(d == b"\x05" + MAGIC + c.nonce + b"\x02" + d[25:29] + bytes(16) for d in a), a[0])
    c.send_hello()
    q = c.connect_datagram()
    other = t.client()
    check("connect.cookie-of-another-port.nothing", not (a := t.probe(other, [q])), a)
    n2 = os.urandom(16)
    for name, d in (("cookie-of-another-nonce", c.connect_datagram(nonce=n2)),
                    ("foreign-cookie", c.connect_datagram(cookie_=os.urandom(16))),
                    ("wrong-proof", c.connect_datagram(secret=os.urandom(32)))):
        check("connect.%s.nothing" % name, not (a := t.probe(c, [d])), a)
    a = t.probe(c, [c.connect_datagram(client_key=k) for k in LOW_ORDER])
    check("connect.key-of-low-order.nothing", not a, a)
    a = c.ask(q, (ACCEPT,))
    check("accept.after-all-that-nothing-was-stored", a is not None, a)
    c.accept(a)
    w = c.welcome
    check("accept.layout", a[1:24] == MAGIC + c.nonce and c.cid != 0 and len(a) == 1200)
    check("welcome.values", w[1] == 60 and len(w[9]) == 1 and w[11] == 0 and w[6] <= w[4], w)
    check("welcome.reset-token", w[10] == reset_token(t.keys[0][1], c.cid, t.audience, c.sock.getsockname()), w[10].hex())
    b = c.ask(q, (ACCEPT,))
    check("accept.repeated-byte-by-byte", b == a, b)
    for i in range(3):
        c.send()
    settle(c)
    leave(c)
    check("connect.ended-nonce.nothing", not (b := t.probe(c, [q])), b)
    d = denial(t, t.client(token=(c.token, c.secret)))
    check("connect.used-token.deny-8", d and d[24] == 8 and d[29:] == mac16(c.secret, d[:29]), d)


def _rd64(b, o):
    return struct.unpack_from("<Q", b, o)[0]


def tokens(t):
    foreign = (t.keys[0][0], os.urandom(32))
    cases = (("foreign-key", dict(key=foreign), 2), ("unknown-key-id", dict(key=(77, t.keys[0][1])), 2),
             ("expired", dict(life=-1), 6), ("wrong-audience", dict(audience=t.audience + 1), 7),
             ("other-protocol", dict(protocol_id=t.pid ^ 1), 2), ("version-2", dict(version=2), 2),
             ("match-1", dict(match=1), 7), ("match-1023", dict(match=1023), 7), ("match-1024", dict(match=1024), 2),
             ("rights-of-5-players", dict(rights=5), 2),
             ("name-control", dict(name=b"a\nb"), 11), ("name-not-utf8", dict(name=b"a\xff"), 11),
             ("name-bidi", dict(name="a\u202eb".encode()), 11), ("name-invisible", dict(name="a\u200bb".encode()), 11),
             ("name-space", dict(name=b" "), 11), ("name-space-last", dict(name=b"a "), 11),
             ("name-no-break-space", dict(name="a\u00a0b".encode()), 11),
             ("name-blank", dict(name="\u2800".encode()), 11), ("name-mark", dict(name="\u0303a".encode()), 11),
             ("name-line-separator", dict(name="a\u2028b".encode()), 11),
             ("name-overlong-utf8", dict(name=b"a\xc1\x81"), 11), ("name-after-zero", dict(name=b"a\0b"), 11))
    for name, more, reason in cases:
        c = t.client(**more)
        d = denial(t, c)
        good = d and len(d) == 45 and d[:25] == b"\x05" + MAGIC + c.nonce + bytes([reason])
        proven = reason != 2                               # the server could open the token, and the proof held
        check("token.%s.deny-%d.%s" % (name, reason, "mac" if proven else "hint"),
              good and d[29:] == (mac16(c.secret, d[:29]) if proven else bytes(16)), d and d.hex())
    c = t.client(players=5)
    d = denial(t, c)
    check("connect.players-5.deny-5", d and d[24] == 5 and d[29:] == mac16(c.secret, d[:29]), d)
    for rights, players, good in ((0, 0, False), (0, 1, False), (1, 1, True), (1, 2, False), (1, 0, False), (3, 4, False),
                                  (4, 4, True), (8, 0, True), (8, 1, False), (9, 0, True)):
        c = t.client(players=players, rights=rights)
        if good:
            check("token.rights-%d.players-%d.accepted" % (rights, players), c.connect()[0] == ACCEPT and len(c.own) == players)
            leave(c)
        else:
            d = denial(t, c)
            check("token.rights-%d.players-%d.deny-5" % (rights, players), d and d[24] == 5 and d[29:] == mac16(c.secret, d[:29]), d)
    c = t.client(name="\u00c4nn\u00e9 \u0416".encode(), key=1)
    check("token.of-the-other-key.accepted", c.connect()[0] == ACCEPT)
    leave(c)
    c = t.client(players=2, kind=1)
    check("token.kind-1-and-2-players.accepted", c.connect()[0] == ACCEPT and len(c.own) == 2)
    leave(c)


# ---- 2. Play

class Starved(Client):
    """A client that is never behind with its datagrams, however slow the machine is: it loses all but the
    newest of those that wait. So the server receives its acknowledgements before the values are too old to be
    baselines, and its bandwidth falls to the rate that the client can read."""

    def poll(self, timeout=0.0):
        waiting = [d for d in iter(lambda: self.receive(0), None)] or [self.receive(timeout)]
        return sum(self.on_datagram(d) for d in waiting[-8:] if d is not None)


def far_from_base(c):
    """Snapshots whose base is more than 200 ticks older: the client has fallen silent."""
    return [x for x in c.snaps if x.base is not None and x.as_of - x.base > 200]


def play_out(snapshots, a, b, s, z, r):
    """Until a, b, s and r have had so many snapshots each, and z some that are far from their base."""
    rng = random.Random(7)
    plan = [[rng.randint(-1, 1), rng.randint(-1, 1), rng.randrange(256), rng.randrange(2)] for _ in range(200)]
    start = time.monotonic()
    n = 0
    while (min(len(c.snaps) for c in (a, b, s, r)) < snapshots or len(far_from_base(z)) <= 10) and \
            time.monotonic() < start + 3 * LIMIT:
        head = b.now() - b.welcome[7]
        a.send_inputs(lambda k: [plan[k // 9 % 200]], offset=12)
        if head % 60 < 40 and not 400 <= head < 490:       # b's inputs come late, and at last too late
            b.send_inputs(lambda k: [plan[k // 7 % 190 + 10]])
        s.send_inputs(None, offset=20)
        r.send([INPUT, 4290772991, 0, 0, 0, 0, 0, b""])
        if head < 120 or not any(x.base is not None for x in z.snaps):
            z.send()
        n += 1
        while True:
            for c in (a, b, s, z, r):
                c.poll()
            a.poll(0.004)
            if time.monotonic() >= start + n / 60:
                break
    for c in (a, b, s):
        for _ in range(33):
            c.send()
        settle(c)
    wait(lambda: a.A[0] >= max(a.inputs), a)


def one_rule_for_chains(c):
    """The chain hash is in the first snapshot and in the first of each group of 16 heads, which begin at
    some head. Snapshots between which a datagram was lost on the way prove nothing."""
    at = {e[0]: i for i, e in enumerate(c.log)}
    pairs = [(x, y) for x, y in zip(c.snaps, c.snaps[1:]) if y.seq - x.seq == at[y.seq] - at[x.seq]]
    return (c.snaps[0].chain is not None or c.log[0][0] != 1) and len(pairs) > len(c.snaps) / 2 and any(
        all((y.chain is not None) == ((y.as_of - first) // 16 != (x.as_of - first) // 16) for x, y in pairs)
        for first in range(16))


def one_rule_for_margins(c):
    """A spectator has no margin. A snapshot of a player has one at the latest 100 ms after the one before, unless
    a datagram was lost between; its low margin is not greater than the time for which inputs are stamped ahead."""
    newest, seq, ahead = None, c.log[0][0], 4 * 10**6 // c.rate // 250 + 1
    at = {e[0]: i for i, e in enumerate(c.log)}
    for x in c.snaps:
        made = x.as_of * 10**6 // c.rate + x.phase
        newest = newest if at[x.seq] - at[seq] == x.seq - seq else None
        if x.margin is None and newest is not None and made - newest > 100001:
            return False
        if x.margin and (not c.own or x.margin[0] and x.margin[1] > ahead):
            return False
        newest, seq = made if x.margin else newest, x.seq
    return bool(c.own) == any(x.margin and x.margin[0] for x in c.snaps)


def tickets_until_acknowledged(c):
    """Whether a ticket was sent, but not after a DATA that acknowledges one that carried it had come."""
    seqs = [e[0] for e in c.log if any(x[0] == TICKET for x in unpack(e[3]))]
    known = [k for k, a in c.sent.items() if any(covers(*a, q) for q in seqs)]
    last = [e for e in c.log if e[0] == max(seqs, default=0)]
    return bool(last) and not any(covers(last[0][1], last[0][2], k) for k in known)


def play(t, snapshots):
    a = t.client(extrapolations=1, user=b"u" * 96)          # reads all by linear,
    b, s = t.client(), t.client(players=0, extrapolations=0)    # and s all by hold
    b.hold = True                                          # acknowledges nothing at all
    z = t.client()                                          # sends no inputs: its T stands still at first
    r = t.client(players=0, extrapolations=1)               # without rules: it wants no corrections
    begun = time.monotonic()
    for c in (a, b, s, z, r):
        c.connect()
    check("spectator.no-players", s.own == [])
    play_out(snapshots, a, b, s, z, r)
    elapsed = time.monotonic() - begun
    for name, c in (("linear", a), ("no-acks", b), ("spectator", s)):
        m, p = c.snaps, "play.%s." % name
        check(p + "every-datagram-is-well-formed", not c.bad, c.bad[:3])
        rejected = [k for k in c.reader.stats if k.startswith("rejected")]
        check(p + "every-snapshot-can-be-read", not rejected, [(k, c.reader.stats[k]) for k in rejected])
        check(p + "snapshots-of-newer-and-newer-heads", len(m) >= snapshots and
              all(x.as_of < y.as_of for x, y in zip(m, m[1:])), len(m))
        t.heads_left_out = max(t.heads_left_out, m[-1].as_of - m[0].as_of + 1 - len(m) - c.dropped)
        seqs = [e[0] for e in c.log]
        missing = seqs[-1] - len(seqs)
        check(p + "seqs-from-1-without-a-gap", all(x < y for x, y in zip([0] + seqs, seqs)) and
              missing <= c.dropped, (missing, c.dropped))
        acks = [(e[1], e[2]) for e in c.log]
        check(p + "acks-grow-and-reach-what-was-sent", all(x[0] <= y[0] for x, y in zip(acks, acks[1:])) and
              acks[-1] == (c.seq, 0xFFFFFFFF), (acks[-1], c.seq))
        check(p + "T-is-by-its-rule", all(x.T == min([x.as_of] + [k + 1 for k in x.A]) for x in m))
        check(p + "F-never-back-and-at-least-head-W", all(x.F <= y.F for x, y in zip(m, m[1:])) and
              all(x.as_of - c.history <= x.F <= x.as_of for x in m))
        check(p + "chain-in-the-first-of-every-16-heads", one_rule_for_chains(c),
              [x.as_of for x in m if x.chain is not None][:9])
        check(p + "margin-at-the-latest-after-100-ms", one_rule_for_margins(c), [x.margin for x in m][:9])
        # Ten times the bound of a server on time: this is no measurement.
        check(p + "phase-below-20-ticks", sum(x.phase > 333340 for x in m) < len(m) / 20, max(x.phase for x in m))
        check(p + "A-never-back", all(x.A <= y.A for x, y in zip(m, m[1:])))
    m = [x for x in z.snaps if x.as_of < z.snaps[0].T + 60]
    check("play.without-inputs.T-stands", len({x.T for x in m}) == 1, {x.T for x in m})
    check("play.without-inputs.encoded-against-the-same-tick-with-hash", all(x.known for x in m) and not z.bad and
          not any(k.startswith("rejected") for k in z.reader.stats) and any(x.base is not None for x in z.snaps), z.reader.stats)
    far = far_from_base(z)
    check("play.silent.encoded-against-the-base-of-long-ago", len(far) > 10 and len({x.base for x in far}) == 1 and
          all(x.units for x in far) and not z.bad and
          not any(k.startswith("rejected") for k in z.reader.stats),
          (len(far), {x.base for x in far}, z.bad[:2], z.reader.stats))
    f = [x for x in z.snaps if x.forced]
    check("play.without-inputs.forced", f and all(x.forced[0][0] == 0 for x in f) and
          f[0].forced[0][1] == z.snaps[0].A[0] + 1 and z.snaps[-1].A[0] == z.snaps[-1].as_of - z.history - 1,
          f and (f[0].forced, z.snaps[0].A, z.snaps[-1].A, z.snaps[-1].as_of))
    check("play.no-acks.forced", any(x.forced for x in b.snaps))
    check("play.without-rules.no-corrections", not any(x.corrections for x in r.snaps) and not r.bad and
          all(x.known for x in r.snaps), sum(len(x.corrections) for x in r.snaps))
    check("play.corrections", sum(len(x.corrections) for c in (a, s) for x in c.snaps) > 10)
    m = a.snaps
    for name, c, hows in (("linear", a, {HOLD, LINEAR}), ("hold", s, {HOLD}), ("step", z, {HOLD, LINEAR, STEP})):
        check("play.%s.no-other-extrapolation" % name, {x.how for x in c.snaps} <= hows, {x.how for x in c.snaps})
    for name, c, how in (("linear", a, LINEAR), ("hold", s, HOLD)):
        m = [x for x in c.snaps if x.base is not None]
        check("play.%s.all-hashes-checked-against-bases" % name, len(m) > 100 and all(x.how == how for x in m) and
              all(x.known for x in c.snaps), (len(m), sum(not x.known for x in c.snaps)))
    m = a.snaps
    check("play.no-acks.all-hashes-checked-no-base", all(x.known and x.base is None for x in b.snaps))
    bases = [[-1 if x.base is None else x.base for x in c.snaps] for c in (a, s, z)]
    check("play.bases-at-most-16-back", all(x <= y + 16 for some in bases for x, y in zip(some, some[1:])))
    check("play.linear.deltas-against-bases", bases[0][-1] >= 0, bases[0][-1])
    check("play.inputs-acknowledged-to-the-last", a.A[0] >= max(a.inputs), (a.A, max(a.inputs)))
    for name, c, other in (("linear", a, b), ("no-acks", b, a)):
        unit, received, wrong = 1 + other.own[0], 0, []
        for x in c.snaps:
            v = x.units.get(unit)
            if not v or not v.sure:
                continue
            known = list(x.runs.get(unit, ())) + ([(x.T - v.age, v.inp)] if v.age else [])
            received += len(known)
            wrong += [(k, i, other.inputs.get(k)) for k, i in known if other.inputs.get(k, [None])[0] != i]
        check("play.%s.inputs-of-another-are-those-it-sent" % name, received > 100 and not wrong, (received, wrong[:2]))
    own = [(x.T - v.age, v.inp) for x in m for v in [x.units.get(1 + a.own[0])] if v and v.age]
    check("play.own-inputs-in-values", len(own) > 400 and all(a.inputs[k][0] == i for k, i in own), len(own))
    for name, c in (("linear", a), ("no-acks", b), ("spectator", s)):
        check("play.%s.every-player-is-named" % name, all(c.names.of(p) == b"Ann" for p in a.own + b.own), c.names.named)
    for c in (a, b, s):
        tickets = [x for x in c.messages if x[0] == TICKET]
        f = open_token(t.keys[0][1], t.pid, tickets[0][1])
        g = open_token(t.keys[0][1], t.pid, c.token)
        same = all(f[k] == g[k] for k in ("client_id", "audience", "name", "user")) and f["secret"] == tickets[0][2]
        c.tickets = tickets
        if c is not s:
            continue
        check("ticket.opens-and-is-the-clients", same and f["kind"] == 1 and f["token_id"] != g["token_id"] and
              f["version"] == 1 and f["expire"] - 600 <= time.time() <= f["expire"], f)
        check("ticket.reset-token", tickets[0][3] == reset_token(t.keys[0][1], c.cid, t.audience, c.sock.getsockname()))
    check("ticket.every-250-ms-until-acknowledged", 3 <= len(b.tickets) <= 1 + 4 * elapsed and
          len({x[1] for x in b.tickets}) == 1 and tickets_until_acknowledged(s), (len(b.tickets), len(s.tickets)))
    total = {}
    for c in (a, b, s):
        for k, v in c.reader.stats.items():
            total[k] = total.get(k, 0) + v
    total["corrections with all values"] = sum(v.ents is not None for c in (a, b, s) for x in c.snaps for v in x.corrections.values())
    total["corrections read"] = sum(len(x.corrections) for c in (a, b, s) for x in c.snaps)
    total["forced ranges"] = sum(len(x.forced) for c in (a, b, s) for x in c.snaps)
    total["snapshots without checked hash"] = sum(not x.known for x in s.snaps)
    check("snapshots.list-game-events", total["game events"] > 0 and all(
        max(x.events) <= x.F for c in (a, b, s) for x in c.snaps if x.events), total)
    check("snapshots.list-early-game-events", total["early game events"] > 0, total)
    print("# " + json.dumps(total))
    for c in (a, b, s, z, r):
        leave(c)


# ---- 3. Malformed DATA, and other things that are dropped

def malformed(t):
    c = t.join()
    wait(lambda: len(c.snaps) >= 6, c, play=True)
    now = c.now()
    inp = lambda *v: pack([INPUT, *v])
    run = write_inputs([[[1, 0, 5, 0]]], ARENA.input, [[0] * 4])       # 14 bits in 2 bytes
    deep = b"\x07"
    for _ in range(8):
        deep = b"\x91" + deep
    i32 = lambda x: b"\xce" + struct.pack(">I", x)
    bad = {
        "unknown-type-13": pack([13, 1]), "differs-from-client": pack([DIFFERS, 1, 0, b"\1"]), "names-from-client": pack([NAMES, 0, 1, b"Ann"]), "unknown-type-0": pack([0]), "unknown-type-111": pack([111]), "notice-from-client": pack([NOTICE, 1, 1, 0, b"", b"a"]), "skipped-type-not-well-formed": b"\x91\x71\x92\x71", "type-negative": b"\x91\xff",
        "compare-without-hashes": pack([COMPARE, 1, b""]), "compare-half-a-hash": pack([COMPARE, 1, bytes(3)]), "compare-257-units": pack([COMPARE, 1, bytes(514)]),
        "close-reason-6-without-value": pack([CLOSE, 6, 1, 2, 3, 1]), "close-reason-6-field-256": pack([CLOSE, 6, 1, 2, 256, 1, 0]), "close-reason-6-compared-2": pack([CLOSE, 6, 1, 2, 3, 2, 0]),
        "welcome-from-client": pack([1]), "snapshot-from-client": pack([3, b"x"]), "ticket-from-client": pack([5, bytes(244), bytes(32), bytes(16)]),
        "challenge-from-client": pack([6, bytes(8)]), "not-an-array": b"\x07", "empty-array": b"\x90", "nil": b"\xc0",
        "map": b"\x92\x07\x80", "float32": b"\x92\x07\xca" + bytes(4), "float64": b"\x92\x07\xcb" + bytes(8), "ext": b"\x92\x07\xd4\x01\x00",
        "bin32": b"\x92\x07\xc6" + struct.pack(">I", 8) + bytes(8), "str32": b"\x92\x07\xdb" + struct.pack(">I", 1) + b"a",
        "array32": b"\xdd" + struct.pack(">I", 2) + b"\x07\xc4\x08" + bytes(8), "never-used-c1": b"\xc1",
        "str-not-utf8": b"\x92\x07\xa1\xff", "type-long-form": b"\x92\xcc\x07\xc4\x08" + bytes(8),
        "type-twice": pack([RESPONSE, bytes(8)]) * 2, "truncated-msgpack": pack([RESPONSE, bytes(8)])[:-1],
        "trailing-byte": pack([RESPONSE, bytes(8)]) + b"\x00", "9-deep": b"\x92\x07" + b"\x91" + deep,
        "response-7-bytes": pack([RESPONSE, bytes(7)]), "response-9-bytes": pack([RESPONSE, bytes(9)]), "response-a-string": b"\x92\x07\xa8aaaaaaaa",
        "response-one-too-many": pack([RESPONSE, bytes(8), 0]), "response-one-missing": pack([RESPONSE]),
        "close-reason-0": pack([CLOSE, 0]), "close-reason-6-without-tick": pack([CLOSE, 6]), "close-reason-256": pack([CLOSE, 256]), "close-reason-7-without-seconds": pack([CLOSE, 7]), "close-reason-7-of-301-s": pack([CLOSE, 7, 301]), "close-not-alone": pack([RESPONSE, bytes(8)]) + pack([CLOSE, 1]),
        "input-offset-513": inp(now, 513, 0, 0, 0, 0, b""), "input-delay-over-10-s": inp(now, 0, 10**7 + 1, 0, 0, 0, b""),
        "input-delay-negative": inp(now, 0, -1, 0, 0, 0, b""), "input-tick-is-none": inp(NO_TICK, 0, 0, 0, 0, 0, b""),
        "input-first-is-none": inp(NO_TICK - 1, 0, 0, -1, 0, 0, b""), "input-first-below-0": inp(now, 0, 0, now + 1, 0, 0, b""),
        "input-force-before-below-0": inp(now, 0, 0, 0, now + 1, 0, b""), "input-beyond-the-last-tick": inp(NO_TICK - 1, 0, 0, 0, 0, 2, write_inputs([[[0] * 4]] * 2, ARENA.input, [[0] * 4])),
        "input-count-513": inp(now, 0, 0, 0, 0, 513, bytes(65)),
        "input-run-longer": inp(now, 0, 0, 0, 0, 1, run + b"\0"), "input-run-shorter": inp(now, 0, 0, 0, 0, 1, run[:1]),
        "input-run-padding-not-zero": inp(now, 0, 0, 0, 0, 1, run[:1] + bytes([run[1] | 0x80])), "input-run-without-count": inp(now, 0, 0, 0, 0, 0, b"\0"),
        "input-a-value-missing": inp(now, 0, 0, 0, 0, 0), "input-a-value-too-many": inp(now, 0, 0, 0, 0, 0, b"", 0), "input-a-boolean": inp(now, False, 0, 0, 0, 0, b""),
        "events-none": pack([RELIABLE, 1]), "events-number-0": pack([RELIABLE, 0, b"a"]), "events-number-too-large": pack([RELIABLE, NO_TICK, b"a"]),
        "events-empty-event": pack([RELIABLE, 1, b""]), "events-256-bytes": pack([RELIABLE, 1, bytes(256)]), "events-gap-first": pack([RELIABLE, 1, 1, b"a"]),
        "events-gap-last": pack([RELIABLE, 1, b"a", 1]), "events-gap-beside-gap": pack([RELIABLE, 1, b"a", 1, 1, b"b"]), "events-gap-0": pack([RELIABLE, 1, b"a", 0, b"b"]),
        "events-gap-255": pack([RELIABLE, 1, b"a", 255, b"b"]), "events-256-ahead": pack([RELIABLE, 257, b"a"]),
        "unreliable-none": pack([UNRELIABLE]), "unreliable-empty": pack([UNRELIABLE, b""]), "unreliable-256-bytes": pack([UNRELIABLE, bytes(256)]),
        "unreliable-17": pack([UNRELIABLE] + [b"a"] * 17), "unreliable-a-number": pack([UNRELIABLE, 1]),
        "1167-values-of-one-byte": b"\xdc" + struct.pack(">H", 1163) + b"\x07" + b"\xc0" * 1162,
    }
    good = {
        "empty-body": b"", "types-of-later-versions": pack([113]) + pack([127, b"x", [None]]) + pack([RESPONSE, bytes(8)]) + pack([113, 5]), "response-unasked": pack([RESPONSE, bytes(8)]), "array16-and-bin16": b"\xdc\0\2\x07\xc5\0\x08" + bytes(8),
        "input-integers-in-long-forms": b"\x98\x02" + i32(now) + b"\xcd\0\0" + b"\xcf" + bytes(8) + b"\xd3" + bytes(8) + i32(0) + b"\xd0\0" + b"\xc5\0\0",
        "input-client-tick-0": inp(0, 0, 0, 0, 0, 0, b""), "input-client-tick-4294967294": inp(NO_TICK - 1, 512, 0, 0, 0, 0, b""),
        "input-for-the-last-tick": inp(NO_TICK - 1, 0, 0, 0, 0, 1, run),
        "compare-of-nothing": pack([COMPARE, 1, bytes(2)]), "compare-256-units": pack([COMPARE, 1, bytes(512)]),
        "two-messages": inp(now, 0, 0, 0, 0, 0, b"") + pack([RESPONSE, bytes(8)]),
        "unreliable-16": pack([UNRELIABLE] + [b"a"] * 16), "unreliable-255-bytes": pack([UNRELIABLE, bytes(255)]),
        "unreliable-more-than-there-is-room": pack([UNRELIABLE] + [bytes(255)] * 4),
    }
    acked = lambda: {c.log[-1][1]} | {c.log[-1][1] - 1 - i for i in range(32) if c.log[-1][2] >> i & 1}

    def batch(items):
        got = {}
        for k in range(0, len(items), 15):
            seqs = []
            for name, body, ack in items[k:k + 15]:
                c.send(body=body, ack=ack)
                seqs.append((name, c.seq))
            c.send()
            settle(c)
            time.sleep(0.2)                                 # 120 DATA a second are allowed at 60 Hz
            got.update((name, q in acked()) for name, q in seqs)
        return got

    forms = [(k, v, None) for k, v in bad.items()] + [
        ("ack-never-sent", b"", (c.newest + 100000, 0)), ("ack-0-with-bits", b"", (0, 1)), ("ack-bit-of-seq-0", b"", (1, 1)),
        ("ack-bits-beyond-the-first", b"", (2, 1 << 5))]
    for name, taken in batch(forms).items():
        check("data.malformed.%s.not-acknowledged" % name, not taken)
    for name, taken in batch([(k, v, None) for k, v in good.items()]).items():
        check("data.%s.acknowledged" % name, taken)
    check("data.malformed.connection-stands", c.closed is None and c.reset is None and not c.bad, (c.closed, c.bad[:2]))
    # The same from another address, where an answer would show: nothing that does not open is answered.
    o = Client(t.address, t.pid, c.token, c.secret)
    old = c.send()
    settle(c)
    check("data.replayed-from-elsewhere.nothing", not (a := t.probe(o, [old] * 3)), a)
    d = data(c.c2s, c.cid, c.seq + 1, *c.acks(), pack([RESPONSE, bytes(8)]))
    check("data.every-shorter-length.nothing", not (a := t.probe(o, [d[:n] for n in range(len(d))])), a)
    check("data.trailing-bytes.nothing", not (a := t.probe(o, [d + bytes(n) for n in (1, 2, 16, 1200 - len(d), 1201 - len(d), 1400 - len(d))])), a)
    flips = [d[:i] + bytes([d[i] ^ 1 << b]) + d[i + 1:] for i in range(5, len(d)) for b in ((i * 3) % 8, (i * 5 + 1) % 8)]
    check("data.flipped-bits.nothing", not (a := t.probe(o, flips)), a)
    check("data.seq-0.nothing", not (a := t.probe(o, [data(c.c2s, c.cid, 0, 0, 0, b"")])), a)
    check("data.key-of-the-other-direction.nothing", not (a := t.probe(o, [data(c.s2c, c.cid, c.seq + 1, 0, 0, b"")])), a)
    late = c.seq + 1
    c.seq += 300
    c.send()
    settle(c)
    check("data.older-than-the-window.nothing", not (a := t.probe(o, [data(c.c2s, c.cid, late, *c.acks(), b"")])), a)
    c.send(seq=c.seq - 200)
    c.send()
    settle(c)
    check("data.connection-still-stands", c.log[-1][1] == c.seq and c.closed is None, (c.log[-1][1], c.seq))
    return c


def events(t, c):
    """An arena sends no events; it acknowledges those that come, repeated, out of order and with gaps."""
    bodies = [pack([RELIABLE, 1, b"one"]), pack([RELIABLE, 1, b"one", b"two"]), pack([RELIABLE, 4, b"four", 2, b"seven"]),
              pack([RELIABLE, 3, b"three"]), pack([RELIABLE, 1, bytes(255)]), pack([RELIABLE, 250, b"far"])]
    seqs = []
    for b in bodies:
        c.send(body=b)
        seqs.append(c.seq)
    c.send()
    settle(c)
    ack, bits = c.log[-1][1:3]
    took = [q == ack or bool(bits >> (ack - 1 - q) & 1) for q in seqs]
    check("events.acknowledged", all(took) and c.closed is None, (took, c.closed))
    check("events.well-formed-if-any", not c.bad, c.bad[:2])


def resets(t):
    c = t.client()
    cid = 0x7FFF1234
    for seq, key in ((2, 0), (3, 1)):
        a = t.probe(c, [data(bytes(32), cid, seq, 0, 0, b"")])
        check("reset.unknown-cid.%s-key" % ("used", "other")[key],
              a == [b"\x41" + struct.pack("<I", cid) + reset_token(t.keys[key][1], cid, t.audience, c.sock.getsockname())], a)
    a = t.probe(c, [data(bytes(32), cid, 2, 0, 0, b"")[:n] for n in range(33)])
    check("reset.never-for-less-than-33-bytes", not a, a)
    begun = time.monotonic()
    a = t.probe(c, [data(bytes(32), cid + 1 + i, 2, 0, 0, b"") for i in range(300)])
    most = 501 + 10000 * (time.monotonic() - begun)        # those of 50 ms may come at once
    check("reset.at-most-10000-a-second", 20 <= len(a) <= most, (len(a), most))


# ---- 4. Another address, reconnecting

def migration(t, c):
    old = c.sock
    c.rebind()
    new, c.sock = c.sock, old
    sent = came = 0
    within = True
    challenges, elsewhere, copies = [], [], {}
    first, begun = len(c.log), time.monotonic()
    while (len(challenges) < 3 or len(copies) < 5) and time.monotonic() < begun + LIMIT:
        c.sock = new
        sent += len(c.send())
        time.sleep(0.01)
        while (d := c.receive()) is not None:
            came += len(d)
            m = unpack(unseal(c.s2c, _rd64(d[5:9] + bytes(4), 0), d[:9], d[9:])[8:])
            challenges += [x for x in m if x[0] == CHALLENGE]
            elsewhere += [x for x in m if x[0] not in (CHALLENGE, SNAPSHOT)]
            if SNAPSHOT in {x[0] for x in m}:
                copies[_rd64(d[5:9] + bytes(4), 0)] = d
            within &= came <= 3 * sent
            c.seen = d
        c.sock = old
        c.poll()
    elapsed = time.monotonic() - begun
    wait(lambda: set(copies) <= {e[0] for e in c.log}, c)
    check("path.challenge-comes", challenges and all(len(x[1]) == 8 for x in challenges), challenges)
    check("path.nothing-else-goes-there", not elsewhere, elsewhere[:2])
    check("path.never-more-than-three-bytes-for-one", within, (came, sent))
    logged = {x[0]: x[3] for x in c.log[first:]}
    check("path.snapshots-go-to-both", len(copies) >= 5 and set(copies) <= set(logged) and all(
        unseal(c.s2c, n, d[:9], d[9:])[8:] == logged[n] for n, d in copies.items()), (len(copies), len(logged)))
    check("path.again-every-100-ms", 3 <= len(challenges) <= 1 + 10 * elapsed, (len(challenges), elapsed))
    n = len(c.log)
    check("path.the-rest-goes-to-the-old-address", wait(lambda: len(c.log) > n, c))
    c.sock = new
    while c.receive() is not None:                         # copies
        pass
    c.send([RESPONSE, challenges[-1][1]])
    c.newest = max(c.newest, _rd64(c.seen[5:9] + bytes(4), 0))
    c.window = (1 << 256) - 1
    settle(c)
    while True:                                            # datagrams under way to the old address
        try:
            old.recv(2048)
        except BlockingIOError:
            break
    n = len(c.log)
    wait(lambda: len(c.log) > n + 5, c, play=True)
    try:
        stray = len(old.recv(2048))
    except BlockingIOError:
        stray = 0
    check("path.after-the-response-all-goes-there", len(c.log) > n + 5 and not stray, (len(c.log) - n, stray))
    if not t.address[0].startswith("127."):
        return
    # A ticket and a reset token belong to an address.
    ticket, c.ip = c.ticket, "127.0.0.2"
    c.rebind()
    check("path.another-ip.another-ticket", wait(lambda: c.ticket != ticket, c, play=True))
    check("path.another-ip.reset-token", c.reset_token == reset_token(t.keys[0][1], c.cid, t.audience, c.sock.getsockname()))
    ticket, c.ip = c.ticket, "127.0.0.1"
    c.rebind()
    wait(lambda: c.ticket != ticket, c, play=True)


def starved(t, path, key_file):
    """Little bandwidth for each client: units are left out, named by turns, encoded against older snapshots.
    At 20 ticks a second the 64 heads in which a client can acknowledge a baseline last 3.2 s."""
    s = Server(path, key_file, "--audience=%d" % t.audience, "--client-rate=4000", "--max-clients=32", "--tick-rate=20")
    events = "again by turns", "units against an older snapshot"
    seen = lambda what: sum(c.reader.stats.get(what, 0) for c in cs)
    try:
        cs = [Starved(s.address, t.pid, *t.token(), ARENA, n, extrapolations=n % 2) for n in (1, 2, 3, 4, 0)]
        for c in cs:
            c.connect()
        rng = random.Random(3)
        plan = [[rng.randint(-1, 1), rng.randint(-1, 1), rng.randrange(256), 1] for _ in range(600)]
        start = time.monotonic()
        n = 0
        while (sum(len(c.snaps) for c in cs) < 600 or min(map(seen, events)) <= 5) and \
                time.monotonic() < start + 3 * LIMIT:
            for j, c in enumerate(cs):
                c.send_inputs(lambda k: [plan[(k // 9 + 50 * j + 20 * i) % 600] for i in range(len(c.own))])
            n = max(n + 1, int((time.monotonic() - start) * 20))
            while True:
                for c in cs:
                    c.poll(0.002)
                if time.monotonic() >= start + n / 20:
                    break
        stats = {}
        for c in cs:
            for k, v in c.reader.stats.items():
                stats[k] = stats.get(k, 0) + v
        stats["snapshots"] = sum(len(c.snaps) for c in cs)
        stats["bodies' mean bytes"] = sum(len(e[3]) for c in cs for e in c.log) // sum(len(c.log) for c in cs)
        print("# starved: " + json.dumps(stats))
        check("starved.every-datagram-is-well-formed", not any(c.bad for c in cs), [c.bad[:2] for c in cs])
        check("starved.every-snapshot-has-its-hash", all(x.known for c in cs for x in c.snaps) and
              not any(k.startswith("rejected") for k in stats) and stats["snapshots"] >= 600, stats)
        check("starved.named-by-turns-and-against-older", min(map(seen, events)) > 5, stats)
        check("starved.own-players-always-sent", all(1 + p in x.units for c in cs for x in c.snaps for p in c.own))
    finally:
        s.stop()


def heads_left_out(t, report):
    """A server that simulates several ticks at once makes snapshots of the last alone: no more heads may
    be without one than ticks were late by a tick or more, as the server itself reports."""
    late, tick = report["server"]["tick_lateness_ms"], 0.9 * 1000 / report["tick_rate_hz"]
    shares = (0, "max"), (0.01, "p99"), (0.1, "p90"), (0.5, "p50")
    share = next((share for share, key in shares if late[key] < tick), 1)
    print("# heads without a snapshot: %d, ticks late by at most %.1f ms" % (t.heads_left_out, late["max"]))
    check("play.a-snapshot-of-each-head-that-was-not-late", t.heads_left_out <= share * late["count"], (t.heads_left_out, late))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--server")
    p.add_argument("--key-file")
    p.add_argument("--audience", type=int, default=0)
    p.add_argument("--hindcastd", default="build/release/bin/hindcastd")
    p.add_argument("--json")
    o = p.parse_args()
    begin, server = time.monotonic(), None
    with tempfile.TemporaryDirectory() as tmp:
        if not o.server:
            o.key_file, o.audience = tmp + "/key", 77
            for _ in range(2):
                subprocess.run([o.hindcastd, "key", "--key-file=" + o.key_file], check=True, stdout=subprocess.DEVNULL)
            server = Server(o.hindcastd, o.key_file, "--audience=77", "--max-clients=12", "--json=" + tmp + "/report")
        try:
            keys = [(int(a), bytes.fromhex(b)) for a, b in (l.split() for l in open(o.key_file) if l[0] != "#")]
            host, port = o.server.rsplit(":", 1) if o.server else server.address
            t = Tester((host, int(port)), keys, o.audience)
            section(check_documents, check)
            section(check_limits, check)
            section(check_vectors, check)
            handshake(t)
            if server:
                text = subprocess.run([o.hindcastd, "token", "--key-file=" + o.key_file, "--client-id=7", "--name=Ann"], check=True, capture_output=True).stdout
                tok, secret = token_from_text(text.strip())
                f = open_token(keys[0][1], t.pid, tok)
                check("token.text-of-the-servers-own", len(text.strip()) == 368 and f and f["secret"] == secret and f["client_id"] == 7 and f["name"] == b"Ann" + bytes(29), f)
            section(tokens, t)
            section(silence, t)
            section(play, t, 570)
            c = section(malformed, t)
            c and section(events, t, c)
            c and section(migration, t, c)
            c and section(again, t, c)
            section(compares, t)
            section(resets, t)
            if server:
                section(second_server, t, o.hindcastd, o.key_file)
                section(starved, t, o.hindcastd, o.key_file)
            old, answer, at = t.stale
            time.sleep(max(0, at + 21 - time.monotonic()))
            tok, secret = t.token()
            d = connect(t.pid, old.nonce, *struct.unpack("<24xI16s", answer[0]), tok, secret)
            check("connect.stale-cookie.nothing", not (x := t.probe(old, [d])), x)
            check("unproven.bytes-out-at-most-bytes-in", UNPROVEN[1] <= UNPROVEN[0], UNPROVEN)
            if server:
                server.stop()
                with open(tmp + "/report") as f:
                    heads_left_out(t, json.load(f))
        finally:
            if server:
                server.stop()
    bad = [x for x in RESULTS if not x["ok"]]
    print("# %d checks, %d failed, %.1f s" % (len(RESULTS), len(bad), time.monotonic() - begin))
    if o.json:
        json.dump({"checks": RESULTS, "failed": len(bad)}, open(o.json, "w"), indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
