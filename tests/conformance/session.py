"""A short session whose secrets are all fixed, played by both sides without a server: for vectors.py."""
import struct
from hcast import *
from documents import ARENA
from writer import *

PLAYERS, OWN, RATE, TICK, ADDRESS = 3, 1, 60, 100, ("127.0.0.1", 40001)
LEFT, TURNED, SHOT = [-1, 0, 64, 0], [-1, 0, 70, 0], [-1, 0, 70, 1]         # inputs of player 0
DOWN, ASIDE, AIMED = [0, 1, 9, 0], [1, 1, 12, 1], [1, 1, 13, 0]             # of player 1, the client's
NOBODY = [0, 0, 0, 0]


def fix(n, x):
    """n bytes that count up from x."""
    return bytes((x + i) & 255 for i in range(n))


class Offline(Client):
    """A client whose datagrams go nowhere."""

    def rebind(self):
        pass

    def raw(self, datagram):
        pass


class Session:
    """Both sides. `log` has the datagrams, and what they hold."""

    def __init__(self):
        self.key, self.secret, self.cookie_secret = fix(32, 1), fix(32, 33), fix(32, 200)
        self.log = []

    def token(self, kind, token_id, secret, expire, nonce):
        return seal_token(self.key, 5, ARENA.protocol_id, expire, token_id, 424242, secret, 77, b"Ann", fix(96, 3), kind,
                          nonce, issued=1999999940)

    def given(self):
        return {"token_key": self.key, "key_id": 5, "audience": 77, "cookie_secret": self.cookie_secret,
                "secret": self.secret, "client_address": "%s:%d" % ADDRESS, "rule_hash": "%016x" % ARENA.hashes[1],
                "protocol_id": "%016x" % ARENA.protocol_id}

    def note(self, sender, kind, datagram, **more):
        self.log.append({"from": sender, "kind": kind, **more, "datagram": datagram})

    def connect(self, number, token, secret, tick, resumed, former=None):
        """The connection of this number, with other secrets than the one before."""
        own, server_secret, server_nonce, cid = fix(32, 11 + number), fix(32, 43 + number), fix(16, 129 + number), 0x89ABCDE1 + number
        self.client = c = Offline(ADDRESS, ARENA.protocol_id, token, secret, ARENA, continues=former, extrapolations=1)
        c.own_secret, c.nonce, c.client_key, self.seq = own, fix(16, 97 + number), public_key(own), 0
        self.note("client", "HELLO", hello(c.pid, c.nonce), client_secret=own)
        c.slot, c.cookie = 1234, cookie(self.cookie_secret, 1234, *ADDRESS, c.nonce)
        self.note("server", "COOKIE", struct.pack("<B7s16sI16s", COOKIE, MAGIC, c.nonce, c.slot, c.cookie))
        self.note("client", "CONNECT", c.connect_datagram(continues=former.cid, continue_key=former.continue_key) if former else
                  c.connect_datagram())
        server_key, shared = public_key(server_secret), exchange(server_secret, c.client_key)
        keys = session_keys(secret, c.pid, token, c.nonce, server_nonce, cid, c.client_key, server_key, shared)
        reset = reset_token(self.key, cid, 77, ADDRESS)
        welcome = [WELCOME, RATE, PLAYERS, 9, 64, 64, 64, tick, 2000, [OWN], reset, resumed]
        welcome.append(bytes(1108 - 3 - len(pack(welcome))))
        head = struct.pack("<B7s16s16sI32s", ACCEPT, MAGIC, c.nonce, server_nonce, cid, server_key)
        accept = head + seal(keys[1], 0, head, pack(welcome))
        c.accept(accept)
        self.note("server", "ACCEPT", accept, server_secret=server_secret, **dict(zip(("c2s", "s2c", "continue_key"), keys)),
                  messages=[welcome])
        self.writer = Writer(c.reader)

    def reconnect(self):
        """The client loses the connection by RESET, and resumes its session with its ticket. The datagrams."""
        former, self.log = self.client, []
        self.note("server", "RESET", struct.pack("<BI", RESET, former.cid) + former.reset_token)
        self.connect(1, *former.ticket, 130, 1, former)
        self.from_client(self.inputs(130, 0), [RELIABLE, 2, b"again"])
        self.from_server([RELIABLE, 4, b"four"])
        return self.log

    def from_client(self, *messages):
        ack, bits = self.client.acks()
        self.note("client", "DATA", self.client.send(*messages), seq=self.client.seq, ack=ack, ack_bits=bits, messages=messages)

    def inputs(self, client_tick, ack_delay, *ticks):
        """INPUT with inputs up to the client's tick."""
        run = write_inputs([[inp] for inp in ticks], ARENA.input, [NOBODY])
        return [INPUT, client_tick, 0, ack_delay, max(0, len(ticks) - 1), 0, len(ticks), run]

    def from_server(self, *messages, snapshot=None):
        c = self.client
        self.seq += 1
        ack, bits, more = c.seq, (1 << max(0, c.seq - 1)) - 1, {}
        messages = ([[SNAPSHOT, snapshot.bytes()]] if snapshot else []) + list(messages)
        d = data(c.s2c, c.cid, self.seq, ack, bits, b"".join(map(pack, messages)))
        if not c.on_datagram(d):
            raise Malformed(str((c.bad, c.reader.stats)))
        if snapshot:
            of = lambda unit, v: {"unit": unit, "tick": v.tick, "entities": v.ents, "input": v.inp, "age": v.age}
            more = {"fields": snapshot.fields, "values": [of(u, v) for u, v in sorted(c.last.units.items())],
                    "early": [[tick, *event] for tick, events in c.last.early.items() for event in events],
                    "corrections": [of(u, v) for (u, _), v in c.last.corrections.items()]}
        self.note("server", "DATA", d, seq=self.seq, ack=ack, ack_bits=bits, messages=messages, **more)

    def play(self):
        """The snapshots have all parts of the grammar but a far base and input changes, which need the step."""
        self.connect(0, self.token(0, fix(16, 160), self.secret, 2000000000, fix(24, 65)), self.secret, TICK, 0)
        w = self.writer
        self.from_client(self.inputs(TICK, 0))
        ticket = self.token(1, struct.pack("<QQ", 2000000000000000, 2000000000), fix(32, 77), 2000000600, fix(24, 9))
        self.from_server([TICKET, ticket, fix(32, 77), self.client.reset_token], snapshot=w.snapshot(
            103, 103, 39, 103, [102], phase=2500, ack_delay=1300, chain=0xDBF794C6CE0168FB, roster=[(0, 90, 0)], units={
                0: (NOTHING, referee(103, 7000)), 1: (NOTHING, runner(103, 3378, shot(9), None, inp=LEFT, age=1)),
                2: (NOTHING, shooter(103, 3200, 3760, 0, 0, 0)), 3: (NOTHING, absent(103, 5)), 4: (NOTHING, pickup(103, 1))}))
        self.from_client(self.inputs(104, 700, DOWN, DOWN), [RELIABLE, 1, b"from the client"])
        self.from_server([CHALLENGE, fix(8, 50)], snapshot=w.snapshot(
            106, 105, 42, 104, [104], base=103, how=LINEAR, margin=(1, 40, 40), forced=[(0, 103, 1)], roster=[(2, 104, 1), (2, 107, 0)],
            events={103: [(2, 0, 0)], 104: []}, early={105: [(1, 0, 0), (7, 0, 0)]}, inputs_from=101, runs={1: [(102, [LEFT]), (105, [TURNED, SHOT]), (108, [LEFT])]}, units={
                0: (AGAIN, referee(105, 6998)), 1: (AGAIN, runner(105, 3325, shot(7), [3320, 1408, 0, 64, 11], 70, TURNED, 2)),
                2: (AGAIN, shooter(105, 3200, 3766, 0, 400, 9, DOWN, 1, 80)), 3: (DROPPED, None), 4: (AGAIN, pickup(105, 0)),
                5: (NOTHING, absent(105, 1))},
            corrections=[(104, 1, (103, False), runner(104, 3351, shot(8), None, inp=LEFT, age=2)),
                         (104, 5, NOTHING, pickup(104, 0))]))
        self.from_client(self.inputs(107, 900, ASIDE, AIMED), [RESPONSE, fix(8, 50)])
        self.from_server([RELIABLE, 1, b"one", 1, b"three"], [UNRELIABLE, b"now", b"or never"],
                         [113, b"of a later version", [-1, None]], snapshot=w.snapshot(
            108, 107, 44, 106, [106], base=106, how=LINEAR, margin=(2, -67, 40), units={
                0: (AGAIN, referee(107, 6996)), 1: (AGAIN, runner(107, 3272, shot(5), [3290, 1420, 2, 64, 9], 70, SHOT, 1)),
                2: (AGAIN, shooter(107, 3206, 3780, 400, 400, 12, ASIDE, 1, 80)), 4: (2, pickup(107, 0))},
            corrections=[(106, 2, (103, False), shooter(106, 3200, 3773, 0, 400, 9, DOWN, 2, 80)),
                         (104, 1, (106, True), runner(104, 3351, shot(8), [3322, 1408, 0, 64, 12], inp=LEFT, age=2))]))
        self.from_server([NOTICE, 7, 2, 60, b"example.net:40000", "Wartung, 5 \u20ac".encode()])
        self.from_server([NOTICE, 7, 2, 59, b"example.net:40000", "Wartung, 5 \u20ac".encode()])
        self.from_server([RELIABLE, 2, b"two"], [NAMES, 0, 91, "J\u00fcrgen".encode(), OWN, 103, b"Ann"])
        self.from_client(self.inputs(108, 100, AIMED))
        return self


# ---- Values

def referee(tick, clock):
    return Value(tick, [[1, 1, clock]])


def runner(tick, x, first_shot, second_shot, aim=64, inp=None, age=0):
    """Of player 0."""
    return Value(tick, [[x, 1408, -1600, 0, 100, 0, 0, 0, aim, 1, 0, 0], first_shot, second_shot, None, None], inp, age)


def shot(life):
    return [3000, 1500, 0, 64, life]


def shooter(tick, x, y, vx, vy, aim, inp=None, age=0, health=100):
    """Of player 1."""
    return Value(tick, [[x, y, vx, vy, health, 0, 0, 0, aim, 1, 0, 0]] + [None] * 4, inp, age)


def pickup(tick, gift):
    return Value(tick, [[2176, 2432, gift, 8191, 0]])


def absent(tick, entities):
    return Value(tick, [None] * entities)
