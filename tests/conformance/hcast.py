"""A plain client of the Hindcast wire protocol HCAST03, written from its standard.

It does everything but the game's step: a value that is encoded against a baseline which the step
extrapolates is parsed and marked as unknown. Section names are those of the standard. The code of the
standard (LAYOUTS.md) is not repeated here, but run as it stands there.
"""
import base64, os, re, select, socket, struct, time
from hashlib import blake2b
from nacl import bindings as sodium
from nacl.exceptions import CryptoError
from compare import read_differs
from names import Names, read_names
from notices import Notices, read_notice
from xxh3 import xxh3

MAGIC = b"HCAST03"
NO_TICK = 0xFFFFFFFF
SO_RXQ_OVFL = 40                        # Linux: with each datagram, how many were dropped before it
HELLO, COOKIE, CONNECT, ACCEPT, DENY, VERSION, DATA, RESET = 1, 2, 3, 4, 5, 6, 0x40, 0x41
WELCOME, INPUT, SNAPSHOT, CLOSE, TICKET, CHALLENGE, RESPONSE, RELIABLE, UNRELIABLE, NAMES, COMPARE, DIFFERS = range(1, 13)
NOTICE = 112


class Malformed(Exception):
    """The peer sent something that the standard does not allow."""


class Rejected(Exception):
    """A snapshot that cannot be read though it is well formed (section 6.13)."""


def need(condition, what):
    if not condition:
        raise Malformed(what)


def document(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../proto", name), encoding="utf-8") as f:
        return f.read()


# Its functions, and the names that they use: `bits`, `input_fields`, `sanitize`.
STANDARD = {"need": lambda condition: need(condition, "it is not as the standard's code needs it")}
exec("".join(re.findall(r"^```python\n(.*?)^```$", document("LAYOUTS.md"), re.M | re.S)), STANDARD)


# ---- 2.2 Tokens; 2.3 Keys and seals

def seal_token(key, key_id, protocol_id, expire, token_id, client_id, secret, audience=0, name=b"",
               user=bytes(96), kind=0, nonce=None, version=1, rights=12, issued=0, match=0):
    head = struct.pack("<BBBBII", version, key_id, kind | (match & 127) << 1, rights | match >> 7 << 4, expire, issued)
    nonce = nonce or os.urandom(24)
    plain = struct.pack("<16sQ32sQ32s96s", token_id, client_id, secret, audience, name, user)
    aad = b"HINDCAST-TOKEN-1" + struct.pack("<Q", protocol_id) + head
    return head + nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plain, aad, nonce, key)


def open_token(key, protocol_id, token):
    aad = b"HINDCAST-TOKEN-1" + struct.pack("<Q", protocol_id) + token[:12]
    try:
        p = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(token[36:], aad, token[12:36], key)
    except CryptoError:
        return None
    f = dict(zip(("token_id", "client_id", "secret", "audience", "name", "user"),
                 struct.unpack("<16sQ32sQ32s96s", p)))
    f.update(zip(("version", "key_id", "kind", "rights", "expire", "issued"),
                 struct.unpack("<BBBBII", token[:12])))
    f["match"] = f["rights"] >> 4 << 7 | f["kind"] >> 1
    f["kind"], f["rights"] = f["kind"] & 1, f["rights"] & 15
    return f


def token_from_text(text):
    b = base64.urlsafe_b64decode(text)
    return b[:244], b[244:]


def mac16(key, data):
    return blake2b(data, key=key, digest_size=16).digest()


def public_key(own_secret):
    return sodium.crypto_scalarmult_base(own_secret)


def exchange(own_secret, key):
    """The shared secret of both sides; None for a key that gives zeros."""
    try:
        shared = sodium.crypto_scalarmult(own_secret, key)
    except (CryptoError, RuntimeError):
        return None
    return shared if any(shared) else None


def session_keys(secret, protocol_id, token, client_nonce, server_nonce, cid, client_key, server_key, shared):
    k = blake2b(b"HCAST03 keys" + struct.pack("<Q", protocol_id) + token + client_nonce + server_nonce +
                struct.pack("<I", cid) + client_key + server_key + shared, key=secret, digest_size=64).digest()
    return k[:32], k[32:], blake2b(b"HCAST03 continues", key=k, digest_size=32).digest()


def seal(key, seq, aad, plain):
    return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(plain, aad, struct.pack("<8xI", seq), key)


def unseal(key, seq, aad, sealed):
    try:
        return sodium.crypto_aead_chacha20poly1305_ietf_decrypt(sealed, aad, struct.pack("<8xI", seq), key)
    except CryptoError:
        return None


def ip16(ip):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(ip)


def reset_token(token_key, cid, audience, address):
    key = blake2b(b"HCAST03 reset", key=token_key, digest_size=32).digest()
    return mac16(key, struct.pack("<IQ", cid, audience) + ip16(address[0]) + struct.pack("<H", address[1]))


def cookie(server_secret, slot, ip, port, client_nonce):
    s = struct.pack("<I", slot)
    key = blake2b(s, key=server_secret, digest_size=32).digest()
    return mac16(key, s + ip16(ip) + struct.pack("<H", port) + client_nonce)


def hello(protocol_id, nonce, magic=MAGIC):
    return struct.pack("<B7sQ16s1168x", HELLO, magic, protocol_id, nonce)


def connect(protocol_id, nonce, slot, cookie_, token, secret, players=1, continues=0, client_key=bytes(32),
            extrapolations=3, continue_key=None):
    """`continues` with a key is proven, with None it has zeros for its proof."""
    b = struct.pack("<B7sQ16sI16s244sBI32sB", CONNECT, MAGIC, protocol_id, nonce, slot, cookie_, token,
                    players, continues, client_key, extrapolations)
    b += (mac16(continue_key, b) if continue_key else bytes(16)) + bytes(834)
    return b + mac16(secret, b)


def data(key, cid, seq, ack, bits, body):
    head = struct.pack("<BII", DATA, cid, seq)
    return head + seal(key, seq, head, struct.pack("<II", ack, bits) + body)


# ---- Bodies

def pack(v):
    """msgpack, shortest form."""
    if v is None or isinstance(v, bool):
        return b"\xc0" if v is None else b"\xc3" if v else b"\xc2"
    if isinstance(v, int):
        if v < 0:
            return struct.pack("b", v) if v >= -32 else b"\xd3" + struct.pack(">q", v)
        for lim, code, fmt in ((1 << 7, b"", ">B"), (1 << 8, b"\xcc", ">B"), (1 << 16, b"\xcd", ">H"),
                               (1 << 32, b"\xce", ">I"), (1 << 64, b"\xcf", ">Q")):
            if v < lim:
                return code + struct.pack(fmt, v)
    if isinstance(v, bytes):
        return (b"\xc4" + struct.pack(">B", len(v)) if len(v) < 256 else b"\xc5" + struct.pack(">H", len(v))) + v
    return (bytes([0x90 | len(v)]) if len(v) < 16 else b"\xdc" + struct.pack(">H", len(v))) + b"".join(map(pack, v))


def text(b):
    try:
        return b.decode()
    except UnicodeDecodeError:
        raise Malformed("a string that is not UTF-8") from None


def unpack(b):
    """All values of a body, by the rules of section 5.1."""
    pos, count = 0, 0

    def take(n):
        nonlocal pos
        need(pos + n <= len(b), "a body ends within a value")
        pos += n
        return b[pos - n:pos]

    def value(depth):
        nonlocal count
        count += 1
        c = take(1)[0]
        if c < 0x80 or c >= 0xE0:
            return c if c < 0x80 else c - 256
        if c in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[c]
        if 0xCC <= c <= 0xD3:
            return int.from_bytes(take(1 << (c & 3)), "big", signed=c >= 0xD0)
        if c in (0xC4, 0xC5):
            return take(int.from_bytes(take(c - 0xC3), "big"))
        if 0xA0 <= c < 0xC0 or c in (0xD9, 0xDA):
            return text(take(c & 31 if c < 0xC0 else int.from_bytes(take(c - 0xD8), "big")))
        need(c & 0xF0 == 0x90 or c == 0xDC, "type byte %02x" % c)
        need(depth < 8, "arrays nested too deep")
        return [value(depth + 1) for _ in range(c & 15 if c < 0xA0 else int.from_bytes(take(2), "big"))]

    out = []
    while pos < len(b):
        count = 0
        at = pos
        m = value(0)
        need(isinstance(m, list) and m and isinstance(m[0], int), "not a message")
        need(b[at + (1 if b[at] != 0xDC else 3)] == m[0], "type in a long form")
        need(count <= 1200 and m[0] not in [x[0] for x in out], "too many values, or a type twice")
        if not 113 <= m[0] <= 127:                          # of a later version
            out.append(m)
    return out


def number_in(v, lo, hi, what):
    need(type(v) is int and lo <= v <= hi, what)


# ---- Bits

class Bits:
    def __init__(self, b):
        self.v, self.left, self.total = int.from_bytes(b, "little"), 8 * len(b), 8 * len(b)

    def u(self, n):
        need(self.left >= n, "out of bits")
        x = self.v & ((1 << n) - 1)
        self.v >>= n
        self.left -= n
        return x

    def run(self, name, *arguments):
        """One of the standard's functions, on these bits."""
        STANDARD["bits"], STANDARD["more"] = self.u, lambda: self.v & 1
        return STANDARD[name](*arguments)

    def number(self, n, most=0xFFFFFFFF):
        x = self.run("number", n)
        need(x <= most, "a number is out of its range")
        return x

    def end(self):
        need(self.left < 8 and self.v == 0, "the end is not filled with fewer than 8 zero bits")


def write_inputs(ticks, fields, before):
    """An input run: per tick a list of one input for each player."""
    v, n, last = 0, 0, list(before)
    for tick in ticks:
        for p, inp in enumerate(tick):
            same = inp == last[p]
            for x, w in [(0 if same else 1, 1)] + ([] if same else [(i, f.bits) for i, f in zip(inp, fields)]):
                v |= (x & (1 << w) - 1) << n
                n += w
            last[p] = inp
    return v.to_bytes((n + 7) // 8, "little")


# ---- The tables of a game

class Field:
    def __init__(self, name, size, bits, signed=0, interpolate=0, countdown=0, moves_by="", moves_per=0):
        self.name, self.size, self.bits, self.signed = name, size, bits, signed
        self.interpolate, self.countdown, self.moves_by, self.moves_per = interpolate, countdown, moves_by, moves_per

    def wrap(self, x):
        return STANDARD["wrap"](self, x)


class Game:
    """kinds: name -> fields; owned and unowned: [(kind, count, every)]; input: fields; sanitize: its
    rule; event_bits: of each kind of game events."""

    def __init__(self, kinds, owned, unowned, input_, sanitize, event_bits=()):
        self.event_bits = list(event_bits)
        self.kinds, self.owned, self.unowned, self.input, self.sanitize = kinds, owned, unowned, input_, sanitize
        self.slots = [kind for kind, count, _ in owned for _ in range(count)]

    def world(self, players):
        """Units in order: (first entity, the kinds of its entities)."""
        units = [(0, ["referee"])]
        units += [(1 + p * len(self.slots), self.slots) for p in range(players)]
        e = 1 + players * len(self.slots)
        for kind, count, every in self.unowned:
            for _ in range(count + (players // every if every else 0)):
                units.append((e, [kind]))
                e += 1
        return units


class Value:
    """ents: for each entity None (absent) or its fields; ents is None where only the game knows. An input is
    not `sure` if it depends on an input change, which is encoded against the result of `predict_input`."""

    def __init__(self, tick, ents, inp=None, age=0, sure=True):
        self.tick, self.ents, self.inp, self.age, self.sure = tick, ents, inp, age, sure or not age


class Snapshot:
    pass


HOLD, LINEAR, STEP = range(3)                               # how values are extrapolated


class Reader:
    """Section 6: the baselines, and all that can be read without the game's rules."""

    def __init__(self, game, players, own, tick, rate):
        self.game, self.players, self.own, self.rate = game, players, own, rate
        self.units = game.world(players)
        self.newest, self.known, self.bases = tick, {}, (-1, -1)
        self.stats = {}

    def count(self, what, n=1):
        self.stats[what] = self.stats.get(what, 0) + n

    def entity_hash(self, e, kind, fields):
        b = struct.pack("<HB", e, 1 if fields is None else 2)
        for f, x in zip(self.game.kinds[kind], fields or ()):
            b += (x & (1 << 8 * f.size) - 1).to_bytes(f.size, "little")
        return xxh3(b)

    def extrapolate(self, v, unit, n):
        need(n >= 0, "a baseline of a later tick")
        if n == 0 or v.ents is None or self.how == HOLD or self.how == STEP and n > 32 and unit:
            return v.ents
        if self.how == STEP and unit:
            return None
        STANDARD["tick_rate"] = self.rate
        return [e and STANDARD["linear"](self.game.kinds[kind], e, v.tick, v.tick + n)
                for kind, e in zip(self.units[unit][1], v.ents)]

    def changes(self, b, unit, ents, inp, age, tick, sure=True):
        player = 1 <= unit <= self.players
        kinds = self.units[unit][1]
        owner, which = b.run("which", len(kinds), player)
        before = inp or [0] * len(self.game.input)
        if owner:
            age, inp = b.run("owner", age, tick, before)
        now = inp or [0] * len(self.game.input)
        out, blank = [], [None] * len(kinds)
        for i, kind in enumerate(kinds):
            fields = self.game.kinds[kind]
            old = (ents or blank)[i]
            if old is None and i and out[0] is not None:
                first = {f.name: x for f, x in zip(self.game.kinds[kinds[0]], out[0])}
                against = [f.wrap(first.get(f.name, 0)) for f in fields]
            elif old is None:
                against = [0] * len(fields)
            else:
                against = list(old)
                if player and i == 0:
                    names = {f.name: j for j, f in enumerate(self.game.input)}
                    for j, f in enumerate(fields):
                        k = names.get(f.name)
                        if k is not None and before[k] != now[k] and f.wrap(before[k]) == old[j]:
                            against[j] = f.wrap(now[k])
            if not which[i]:
                out.append(None if old is None else against)
                continue
            flags = b.run("mask", len(fields))
            new = [f.wrap(x + b.run("residual", f)) if on else x for f, x, on in zip(fields, against, flags)]
            out.append(new if old is None or any(flags) else None)
        return Value(tick, None if ents is None else out, inp, age, sure)

    def delta(self, b, unit, ents, inp, age, tick, sure=True):
        if b.u(1):
            return Value(tick, ents, inp, age, sure)
        return self.changes(b, unit, ents, inp, age, tick, sure)

    def value(self, b, unit, base, tick):
        blank = [None] * len(self.units[unit][1])
        if base is None:
            return self.delta(b, unit, blank, None, 0, tick)
        n = tick - base.tick
        ents, inp, age = self.extrapolate(base, unit, n), base.inp, base.age
        self.count("baselines of n " + ("= 0" if n == 0 else "in 1 to 32" if n <= 32 else "> 32"))
        if ents is None:
            self.count("values only the game knows")
        if not (self.how == STEP and 1 <= unit <= self.players and 1 <= n <= 32):
            return self.delta(b, unit, ents, inp, age, tick, base.sure)
        if b.u(1):
            return Value(tick, ents, inp, age, base.sure)
        if not b.u(1):
            return self.changes(b, unit, ents, inp, age, tick, base.sure)
        inputs = b.run("input_changes", base.tick, tick, inp or [0] * len(self.game.input))
        self.count("input changes", len(inputs))
        prev = inputs[max(inputs)]
        return self.delta(b, unit, ents, prev, age or 1, tick, False)

    def baseline(self, head, unit):
        need(head >= 0, "a baseline below tick 0")
        v = self.known.get(head, {}).get(unit)
        if v is None:
            raise Rejected("unit %d of head %d is not there" % (unit, head))
        return v

    def read(self, raw):
        """A Snapshot, Rejected or Malformed; nothing is held before hold()."""
        b, s = Bits(raw), Snapshot()
        STANDARD.update(input_fields=self.game.input, sanitize=self.game.sanitize)
        s.as_of = b.run("as_of", self.newest)
        need(0 <= s.as_of <= 4290772991, "as_of")
        if s.as_of in self.known or self.newest - s.as_of >= 128:
            raise Rejected("its head is not new")
        s.phase, s.ack_delay = b.number(8, 10**7), b.number(8, 10**7)
        s.T, s.refused_before, s.F = (s.as_of - b.number(n, 512) for n in (4, 5, 4))
        need(min(s.T, s.refused_before, s.F) >= 0, "below tick 0")
        s.hash = b.u(32)
        s.chain = b.u(64) if b.u(1) else None
        s.base, self.how = None, HOLD
        if b.u(1):
            age = b.u(6)
            s.base = s.as_of - 1 - age - (b.number(8, (1 << 20) - 64) if age == 63 else 0)
            self.how = b.u(2)
            need(self.how <= STEP, "how")
        need(s.base is None or s.base >= 0, "base")
        s.A = [b.number(3, 1 << 20) + s.T - 1 for _ in self.own]
        need(all(a >= 0 for a in s.A), "A")
        s.margin = b.run("margin") if b.u(1) else None
        samples, low, median = s.margin or (0, None, None)
        need(samples <= 256 and (not samples or -32768 <= low <= median <= 32767), "margin")
        s.inputs_from = s.T - b.number(2, 64)
        need(s.inputs_from >= 0, "inputs from a tick below 0")
        s.forced, s.roster, s.units, s.runs, s.corrections = [], [], {}, {}, {}
        while b.u(1):
            o = b.u(2)
            first = s.T - b.number(5, 1 << 20)
            s.forced.append((o, first, 1 + b.number(3, 511)))
            need(o < len(self.own) and first >= 0, "forced")
        while b.u(1):
            p, z, leave = b.number(6), b.number(4, 1 << 21), b.u(1)
            s.roster.append((p, s.T + z // 2 if z % 2 == 0 else s.T - (z + 1) // 2, leave))
            need(p < self.players and s.roster[-1][1] >= 0, "roster")
        s.events = {}
        if self.game.event_bits:
            entities = self.units[-1][0] + len(self.units[-1][1])
            s.events = b.run("game_events", s.F, entities, self.game.event_bits)
        self.count("game events", sum(map(len, s.events.values())))
        if s.base is not None and s.base not in self.known:
            raise Rejected("base %d is not there" % s.base)
        again = sorted(u for u in self.known.get(s.base, {}) if type(u) is int)
        flags = b.run("again", len(again))
        self.count("again by turns", 0 in flags)
        bases = {u: self.baseline(s.base, u) for u, sent in zip(again, flags) if sent}
        unit, dropped = -1, []
        for _ in range(b.number(4, 256)):
            unit += 1 + b.number(4)
            need(unit < len(self.units) and unit not in bases, "a unit's number")
            if b.u(1):
                need(s.base is not None, "no base")
                bases[unit] = self.baseline(s.base - 1 - b.u(6), unit)
                self.count("units against an older snapshot")
            elif b.u(1):
                bases[unit] = None
            else:
                dropped.append(unit)
                self.count("units dropped")
        s.dropped = dropped
        need(len(bases) + len(dropped) <= 256, "units")
        for unit in sorted(bases):
            s.units[unit] = v = self.value(b, unit, bases[unit], s.T)
            if 1 <= unit <= self.players:
                s.runs[unit], at, inp = [], s.inputs_from, v.inp or [0] * len(self.game.input)
                for _ in range(b.number(1)):
                    at += b.number(1, 1025)
                    for _ in range(b.number(2, 511) + 1):
                        if b.u(1):
                            inp = b.run("other_input", inp)
                        s.runs[unit].append((at, inp))
                        at += 1
                need(unit - 1 not in self.own or not s.runs[unit], "runs of an own player")
        at, s.values_end = s.T, b.total - b.left
        while b.u(1):
            at -= 1 + b.number(3, 512)
            need(at >= 0, "a correction below tick 0")
            unit = -1
            for _ in range(b.number(3, 511) + 1):
                unit += 1 + b.number(2)
                need(unit < len(self.units) and (unit, at) not in s.corrections, "a correction's unit")
                base = None
                if b.u(1):
                    head, same = s.as_of - 1 - b.u(7), b.u(1)
                    base = self.baseline(head, (unit, at) if same and (unit, at) in self.known.get(head, {}) else unit)
                    if base.tick > at or same and base.tick != at:
                        raise Rejected("a correction against another tick")
                s.corrections[unit, at] = self.value(b, unit, base, at)
        s.early = {}
        if self.game.event_bits:
            s.early = b.run("early_events", s.F, s.T, entities, self.game.event_bits)
        self.count("early game events", sum(map(len, s.early.values())))
        b.end()
        s.how = self.how
        s.known = all(v.ents is not None for v in s.units.values())
        if s.known:
            total = sum(self.entity_hash(self.units[u][0] + i, kind, e)
                        for u, v in s.units.items() for i, (kind, e) in enumerate(zip(self.units[u][1], v.ents)))
            if total & 0xFFFFFFFF != s.hash:
                raise Rejected("it does not have its hash")
        return s

    def hold(self, s):
        """After the snapshot's datagram was accepted."""
        if s.base is not None and s.base > self.bases[1]:
            self.bases = self.bases[1], s.base
        self.known[s.as_of] = {**s.units, **s.corrections}
        self.newest = max(self.newest, s.as_of)
        held = self.bases if self.newest < self.bases[1] + 128 else self.bases[1:]
        for head in [h for h in self.known if h <= self.newest - 128 and h not in held]:
            del self.known[head]


# ---- A connection

class Denied(Exception):
    pass


def covers(ack, bits, seq):
    """Whether an ack with its bits acknowledges seq."""
    return seq == ack or 0 < ack - seq <= 32 and bool(bits >> (ack - 1 - seq) & 1)


class Client:
    """One connection, and one socket (or more: `rebind`). Something happens only in calls.

    Every wait ends with the datagram that is waited for; `LIMIT` seconds only end one that hangs."""

    LIMIT = 60.0

    def __init__(self, server, protocol_id, token, secret, game=None, players=1, continues=None, ip="127.0.0.1",
                 extrapolations=3):
        """`continues` is the former connection of this user, a Client, or None."""
        self.server, self.pid, self.token, self.secret, self.game = server, protocol_id, token, secret, game
        self.players, self.continues, self.ip, self.extrapolations = players, continues, ip, extrapolations
        self.own_secret = os.urandom(32)
        self.client_key = public_key(self.own_secret)
        self.nonce, self.cid, self.closed, self.reset, self.ticket = os.urandom(16), None, None, None, None
        self.seq = self.newest = self.window = 0            # ours; of the server, bit i: newest - i came
        self.log, self.messages, self.bad = [], [], []      # of the server: (seq, ack, bits, body, time)
        self.sent, self.sock, self.reader = {}, None, None  # sent: by seq, the ack and bits in it
        self.snaps, self.last = [], None                    # snapshots that were accepted; the newest
        self.shown = []                                     # of each in `log`: the newest T by then
        self.dropped = 0                                    # by the system: the socket's buffer was full
        self.hold, self.ack_state = None, (0, 0)            # see on_data
        self.answers_close = True
        self.A, self.refused_before, self.head, self.inputs = [], 0, None, {}
        self.came, self.names, self.notices, self.ticket_seq = 0.0, Names(), Notices(), 0
        self.events_oldest, self.events_early = 1, {}       # of the server: not received; by number, bytes
        self.rebind()

    def rebind(self):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
        self.sock.bind((self.ip, 0))
        self.sock.connect(self.server)
        self.sock.setblocking(False)

    def raw(self, datagram):
        try:
            self.sock.send(datagram)
        except ConnectionRefusedError:
            pass

    def receive(self, timeout=0.0):
        """The next datagram or None."""
        end = time.monotonic() + timeout
        while True:
            try:
                d, beside, _, _ = self.sock.recvmsg(2048, socket.CMSG_SPACE(4))
                for level, kind, value in beside:
                    if (level, kind) == (socket.SOL_SOCKET, SO_RXQ_OVFL):
                        self.dropped = int.from_bytes(value[:4], "little")
                return d
            except (BlockingIOError, ConnectionRefusedError):
                left = end - time.monotonic()
                if left <= 0:
                    return None
                select.select([self.sock], [], [], left)

    def ask(self, datagram, kinds):
        """Sends, again every 250 ms, until an answer of these kinds comes that carries the nonce."""
        end = time.monotonic() + self.LIMIT
        while (now := time.monotonic()) < end:
            self.raw(datagram)
            while (d := self.receive(max(0.0, now + 0.25 - time.monotonic()))) is not None:
                if d[0] in kinds and self.nonce in d[8:32]:
                    return d
        return None

    def send_hello(self):
        d = self.ask(hello(self.pid, self.nonce), (COOKIE,))
        if d:
            self.slot, self.cookie = struct.unpack("<24xI16s", d)
        return d

    def connect_datagram(self, **other):
        """CONNECT with this client's values, and those of `other` instead."""
        of = dict(protocol_id=self.pid, nonce=self.nonce, slot=self.slot, cookie_=self.cookie, token=self.token,
                  secret=self.secret, client_key=self.client_key, extrapolations=self.extrapolations)
        return connect(**{**of, **other})

    def connect(self):
        """HELLO to ACCEPT; the datagram of ACCEPT."""
        need(self.send_hello(), "no COOKIE")
        former = self.continues
        self.question = self.connect_datagram(players=self.players, continues=former.cid if former else 0,
                                              continue_key=former and former.continue_key)
        d = self.ask(self.question, (ACCEPT, DENY))
        need(d, "no answer to CONNECT")
        if d[0] == DENY:
            need(d[24] != 0, "a DENY without a reason")
            raise Denied(d[24], struct.unpack_from("<I", d, 25)[0], d)
        self.accept(d)
        return d

    def accept(self, d):
        need(len(d) == 1200, "an ACCEPT of %d bytes" % len(d))
        self.server_nonce, self.cid, server_key = struct.unpack_from("<16sI32s", d, 24)
        shared = exchange(self.own_secret, server_key)
        need(shared is not None, "ACCEPT has an ephemeral key of low order")
        self.c2s, self.s2c, self.continue_key = session_keys(
            self.secret, self.pid, self.token, self.nonce, self.server_nonce, self.cid, self.client_key, server_key,
            shared)
        body = unseal(self.s2c, 0, d[:76], d[76:])
        need(body is not None, "ACCEPT does not open")
        m = unpack(body)
        need(len(m) == 1 and m[0][0] == WELCOME and len(m[0]) == 13, "not a WELCOME alone")
        w = m[0]
        for i, lo, hi in ((1, 1, 240), (2, 1, 4096), (3, 0, (1 << 64) - 1), (4, 0, 512), (5, 1, 512), (6, 0, w[4]),
                          (7, 0, NO_TICK - 1), (8, 0, 10**7), (11, 0, 1)):
            number_in(w[i], lo, hi, "WELCOME's value %d" % i)
        need(isinstance(w[9], list) and len(w[9]) == len(set(w[9])) <= 4 and all(0 <= p < w[2] for p in w[9]), "players")
        need(isinstance(w[10], bytes) and len(w[10]) == 16, "reset_token")
        need(isinstance(w[12], bytes) and not any(w[12]), "zeros")
        self.welcome, self.rate, self.own, self.reset_token, self.resumed = w, w[1], w[9], w[10], w[11]
        self.notices.begin(self.resumed)
        self.history, self.future, self.refused_before = w[4], w[5], max(0, w[7] - w[6])
        self.head, self.due = w[7], time.monotonic() - w[8] / 1e6
        if self.game:
            self.reader = Reader(self.game, w[2], w[9], w[7], w[1])

    # The client's side of DATA

    def acks(self):
        return self.ack_state if self.hold else (self.newest, self.window >> 1 & 0xFFFFFFFF)

    def send(self, *messages, body=None, ack=None, seq=None):
        if seq is None:
            self.seq += 1
            seq = self.seq
        a = self.acks() if ack is None else ack
        d = data(self.c2s, self.cid, seq, a[0], a[1], b"".join(map(pack, messages)) if body is None else body)
        self.sent[seq] = a
        self.raw(d)
        return d

    def now(self):
        """The server tick by the newest head received, and the time since."""
        return self.head + int((time.monotonic() - self.due) * self.rate)

    def send_inputs(self, sample, *more, lead=3, offset=0):
        """sample(tick) gives an input for each own player; sends all that are not acknowledged."""
        to = self.now() + lead
        first = max([a + 1 for a in self.A] + [self.refused_before, to - 500]) if self.own else to
        ticks = range(first, to + 1)[:400] if self.own and self.A else ()
        run = []
        for t in ticks:
            if t not in self.inputs:
                self.inputs[t] = sample(t)
            run.append(self.inputs[t])
        zero = [[0] * len(self.game.input) for _ in self.own]
        delay = min(10**7, int((time.monotonic() - self.came) * 1e6)) if self.came else 0
        return self.send([INPUT, to, offset, delay, to - first, 0, len(run),
                          write_inputs(run, self.game.input, zero)], *more)

    # The server's side of DATA

    def poll(self, timeout=0.0):
        """Reads at most 64 datagrams, so that other clients have their turn; answers PATH_CHALLENGE. Returns
        how many DATA were accepted."""
        n = 0
        for _ in range(64):
            d = self.receive(timeout if n == 0 else 0)
            if d is None:
                break
            taken = self.on_datagram(d)
            if taken and self.answers_close and self.log[-1][3][1:2] == bytes([CLOSE]):
                self.send()
            n += taken
        return n

    def on_datagram(self, d):
        if d[0] == RESET and len(d) == 21 and self.cid:
            if struct.unpack_from("<I", d, 1)[0] == self.cid:
                self.reset = d[5:] if d[5:] == self.reset_token else self.reset
            return 0
        if d[0] != DATA or self.cid is None:
            return 0
        if not 33 <= len(d) <= 1200 or int.from_bytes(d[1:5], "little") != self.cid:
            self.bad.append("a DATA of %d bytes or of another cid" % len(d))
            return 0
        seq = int.from_bytes(d[5:9], "little")
        if seq == 0 or seq <= self.newest - 256 or seq <= self.newest and self.window >> (self.newest - seq) & 1:
            self.bad.append("seq %d again, or too old" % seq)
            return 0
        plain = unseal(self.s2c, seq, d[:9], d[9:])
        if plain is None:
            self.bad.append("seq %d does not open" % seq)
            return 0
        ack, bits = struct.unpack_from("<II", plain)
        at = time.monotonic()
        try:
            need(ack <= self.seq and (ack or not bits), "ack of what was never sent")
            need(bits >> max(0, ack - 1) == 0 or ack > 32, "ack_bits of what was never sent")
            messages = unpack(plain[8:])
            effects = [self.check(m, len(messages), seq, at) for m in messages]
        except Malformed as e:
            self.bad.append("seq %d: %s" % (seq, e))
            return 0
        except Rejected as e:
            self.reader.count("rejected: " + str(e).split(" of ")[0].rstrip("0123456789 is not there"))
            return 0
        if seq > self.newest:
            self.window = (self.window << (seq - self.newest)) & (1 << 256) - 1
            self.newest, self.came = seq, at
        self.window |= 1 << (self.newest - seq)
        self.log.append((seq, ack, bits, plain[8:], at))
        for e in effects:
            e()
        self.shown.append(self.last.T if self.last else None)
        self.messages += messages
        return 1

    def check(self, m, count, seq, at):
        """Reads one message of the server; returns its effect, for when all of the datagram is well formed."""
        kind = m[0]
        if kind == SNAPSHOT:
            need(len(m) == 2 and isinstance(m[1], bytes), "SNAPSHOT")
            if not self.reader:
                return lambda: None
            s = self.reader.read(m[1])
            s.seq = seq
            return lambda: self.take(s, at)
        if kind == CLOSE:
            need(count == 1 and len(m) >= (3 if m[1:2] == [7] else 2) and m[1] != 6, "CLOSE")
            number_in(m[1], 1, 255, "CLOSE's reason")
            if m[1] == 7:
                number_in(m[2], 0, 300, "CLOSE's seconds")
            return lambda: setattr(self, "closed", m[1])
        if kind == TICKET:
            need(len(m) == 4 and [type(x) for x in m[1:]] == [bytes] * 3 and
                 [len(x) for x in m[1:]] == [244, 32, 16], "TICKET")
            return lambda: self.take_ticket(seq, m[1], m[2], m[3])
        if kind == CHALLENGE:
            need(len(m) == 2 and isinstance(m[1], bytes) and len(m[1]) == 8, "PATH_CHALLENGE")
            return lambda: self.send([RESPONSE, m[1]])
        if kind == UNRELIABLE:
            need(2 <= len(m) <= 17 and all(isinstance(x, bytes) and 1 <= len(x) <= 255 for x in m[1:]), "UNRELIABLE")
            return lambda: None
        if kind == NAMES:
            names = read_names(m, self.welcome[2])
            need(names is not None, "NAMES")
            return lambda: self.names.take(seq, names)
        if kind == NOTICE:
            notice = read_notice(m)
            need(notice is not None, "NOTICE")
            return lambda: self.notices.take(*notice)
        if kind == DIFFERS:
            need(read_differs(self.reader, m) is not None, "DIFFERS")
            return lambda: None
        need(kind == RELIABLE and len(m) >= 3, "an unknown type, %s" % kind)
        number_in(m[1], 1, 4294967294, "number of an event")
        number, events = m[1], {}
        for i, x in enumerate(m[2:], 2):
            need(isinstance(x, bytes) and 1 <= len(x) <= 255 or type(x) is int and 1 <= x <= 254 and
                 2 < i < len(m) - 1 and isinstance(m[i - 1], bytes) and isinstance(m[i + 1], bytes), "RELIABLE")
            if isinstance(x, bytes):
                events[number] = x
            number += 1 if isinstance(x, bytes) else x
        held = {**{n: x for n, x in events.items() if n >= self.events_oldest}, **self.events_early}
        need(number <= self.events_oldest + 256 and sum(map(len, held.values())) <= 16384, "too many events")
        return lambda: self.take_events(held)

    def take_ticket(self, seq, token, secret, reset):
        if seq > self.ticket_seq:
            self.ticket_seq, self.ticket, self.reset_token = seq, (token, secret), reset

    def take_events(self, held):
        while self.events_oldest in held:
            del held[self.events_oldest]
            self.events_oldest += 1
        self.events_early = held

    def take(self, s, at):
        self.names.snapshot(s, self.welcome[2])
        if s.as_of > self.reader.newest or not self.reader.known:
            self.A, self.refused_before = s.A, s.refused_before
            self.head, self.due = s.as_of, at - s.phase / 1e6
        self.reader.hold(s)
        self.snaps.append(s)
        self.last = s
