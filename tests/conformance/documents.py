"""Reads proto/ARENA.md and proto/EXAMPLE.md: the arena's tables, and checks all bits and hashes."""
import random, re
from hcast import *

OPS = {"count": 0, "sum": 1, "max": 2}
INTERPOLATE = {"linear": 1, "angle": 2}


def table(text, first):
    """The rows of the table whose header begins with `first`, as lists of cells."""
    lines = text[text.index("\n| %s |" % first) + 1:].split("\n\n")[0].split("\n")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def fields(cell):
    out = []
    for name, size, bits, more in re.findall(r"(\w+) (\d+):(\d+)([^,]*)", cell):
        kind = next((v for k, v in INTERPOLATE.items() if k in more), 0)
        by, per = (re.findall(r"moves by (\w+)(?: per (\d+))?", more) or [("", "")])[0]
        f = Field(name, int(size), int(bits), int(" s" in more), kind, int("countdown" in more), by, int(per or 0))
        f.group = int((re.findall(r"group (\d+)", more) or [0])[0])
        out.append(f)
    return out


def sign(x):
    return (x > 0) - (x < 0)


class Arena(Game):
    """ARENA.md's tables; `hashes` are those that it names, of which the game's and the protocol_id are computed too."""

    def __init__(self, text):
        self.named = {k: int(v) for k, v in re.findall(r"(version|players_max|reach) (\d+)", text)}
        self.rows = [(name, int(size), [int(x) for x in at.split(",")], int(teleport), int(events_max), fields(cell))
                     for name, size, at, teleport, events_max, cell in table(text, "kind")]
        self.events = [(name, int(bits)) for name, bits, *_ in table(text, "game event")]
        slots = [(which, kind, int(count), int(every)) for which, kind, count, every in table(text, "slots")]
        (size, cell), = table(text, "input_size")
        self.input_size = int(size)
        self.reductions = [(OPS[op], int(field)) for op, field in table(text, "reduction")]
        self.hashes = [int(x, 16) for x in re.findall(r"\b[0-9a-f]{16}\b", text)]
        super().__init__({row[0]: row[5] for row in self.rows}, [s[1:] for s in slots if s[0] == "owned"],
                         [s[1:] for s in slots if s[0] == "unowned"], fields(cell),
                         lambda i: [sign(i[0]), sign(i[1]), i[2], int(i[3] != 0)], [bits for _, bits in self.events])
        self.game_hash = self.chain()
        self.protocol_id = xxh3(MAGIC + struct.pack("<Q", self.hashes[1]), self.game_hash)

    def chain(self):
        chain = 0

        def n(*numbers):
            nonlocal chain
            for x in numbers:
                chain = xxh3(struct.pack("<Q", x & (1 << 64) - 1), chain)

        def t(name):
            nonlocal chain
            n(len(name))
            chain = xxh3(name.encode(), chain)

        def f(fields):
            n(len(fields))
            offset = 0
            for x in fields:
                t(x.name)
                n(offset, x.size, x.bits, x.signed, x.interpolate, x.group, x.countdown)
                t(x.moves_by)
                n(x.moves_per)
                offset += x.size

        t("arena")
        n(self.named["version"], self.named["players_max"], len(self.rows))
        for name, size, at, teleport, _, fields in self.rows:
            t(name)
            n(size)
            f(fields)
            n(*at, teleport)
        for slots in (self.owned, self.unowned):
            n(len(slots))
            for kind, count, every in slots:
                n(list(self.kinds).index(kind), count, every)
        n(self.input_size)
        f(self.input)
        n(len(self.reductions))
        for op, field in self.reductions:
            n(op, field)
        n(self.named["reach"], len(self.events))
        for name, bits in self.events:
            t(name)
            n(bits)
        n(*(row[4] for row in self.rows))
        return chain


ARENA = Arena(document("ARENA.md"))


class Listed:
    """A list of entities in EXAMPLE.md, with the inputs that stand below it."""

    def __init__(self, block, inputs):
        self.rows = [(int(e), bytes.fromhex(b), h) for e, b, h in
                     re.findall(r"^ +(\d+) ((?: [0-9a-f]{2})+) +([0-9a-f]{16})$", block, re.M)]
        self.sum = sum(xxh3(b) for _, b, _ in self.rows) & (1 << 64) - 1
        self.inputs = {int(u): (list(map(int, i.split(","))), int(age))
                       for u, i, age in re.findall(r"input of unit (\d+): ([-\d, ]+); age (\d+)", inputs)}

    def faults(self):
        """Rows with bytes of another entity, or with another hash."""
        return [e for e, b, h in self.rows
                if b[0] | b[1] << 8 != e or int(h, 16) != xxh3(b) or b[2] == 1 and len(b) > 3]

    def values(self, reader, tick):
        fields_of = {}
        for e, b, _ in self.rows:
            fields_of[e] = None if b[2] == 1 else b[3:]
        out = {}
        for unit, (first, kinds) in enumerate(reader.units):
            if first not in fields_of:
                continue
            ents = []
            for i, kind in enumerate(kinds):
                state, at, entity = fields_of[first + i], 0, []
                for f in ARENA.kinds[kind] if state is not None else ():
                    entity.append(int.from_bytes(state[at:at + f.size], "little", signed=bool(f.signed)))
                    at += f.size
                need(state is None or at == len(state), "an entity of another size")
                ents.append(None if state is None else entity)
            out[unit] = Value(tick, ents, *self.inputs.get(unit, (None, 0)))
        return out


def bits_of(section):
    """All bits of the table in a section, in order."""
    rows = re.findall(r"^\| (`[01 `]+`) \|", section, re.M)
    return "".join(re.sub("[` ]", "", row) for row in rows)


class Extrapolating(Reader):
    """Extrapolates to the values that EXAMPLE.md lists."""

    def extrapolate(self, v, unit, n):
        return self.results[unit].ents


def same(a, b):
    return (a.ents, a.inp, a.age) == (b.ents, b.inp, b.age)


def check_runs():
    """The standard's code reads the input runs that hcast.py writes."""
    rng = random.Random(5)
    STANDARD["input_fields"] = ARENA.input
    for players in range(5):
        for count in (0, 1, 2, 9, 60):
            pool = [[rng.randint(-2, 1), rng.randint(-2, 1), rng.randrange(256), rng.randrange(2)] for _ in range(3)]
            ticks = [[rng.choice(pool) for _ in range(players)] for _ in range(count)]
            bits = Bits(write_inputs(ticks, ARENA.input, [[0] * 4] * players))
            if bits.run("input_run", count, players) != ticks:
                return False
            bits.end()
    return True


def check_heads():
    """A head is found from its low half, on either side of the newest known one."""
    return all(Bits(struct.pack("<H", near + by & 0xFFFF)).run("as_of", near) == near + by
               for near in (40000, 65536, 10**9) for by in (-32768, -9, 0, 1, 32767))


def check_documents(check):
    check("documents.arena.hashes", ARENA.hashes == [ARENA.game_hash, ARENA.hashes[1], ARENA.protocol_id],
          ["%016x" % x for x in (ARENA.game_hash, ARENA.protocol_id)])
    check("documents.arena.state-sizes", all(size == sum(f.size for f in fields) for _, size, _, _, _, fields in ARENA.rows))
    check("documents.standard.input-runs", check_runs())
    check("documents.standard.heads", check_heads())
    against_nothing, against_a_base = document("EXAMPLE.md").split("\n## ")[1:]
    check_example(check, "against-nothing", against_nothing, Reader(ARENA, 2, [0], 3, 60), 4, None)
    check_example(check, "against-a-base", against_a_base, Extrapolating(ARENA, 2, [0], 63, 60), 63, (60, 59))


def check_example(check, name, section, reader, tick, base):
    """A section that takes a snapshot of `tick` apart; `base`: the head of its base, and the tick that this showed."""
    name = "documents.example.%s." % name
    body = bytes.fromhex(re.search(r"^    (92 03 c4(?: [0-9a-f]{2})+\n(?:    (?:[0-9a-f]{2} ?)+\n)+)", section, re.M)[1])
    message, = unpack(body)
    bits = "".join(str(byte >> i & 1) for byte in message[1] for i in range(8))
    check(name + "bits-are-the-bytes", bits_of(section) == bits and "a body of %d bytes" % len(body) in section, bits_of(section))
    lists = [Listed(*found) for found in re.findall(r"((?:^ +\d+  [0-9a-f ]+\n){5,})\n((?:    input of .*\n)*)", section, re.M)]
    check(name + "entities", len(lists) == (2 if base else 1) and not any(x.faults() for x in lists), [x.faults() for x in lists])
    listed = reader.results = lists[-1].values(reader, tick)
    if base:
        reader.known[base[0]] = lists[0].values(reader, base[1])
    s = reader.read(message[1])
    check(name + "events", s.events == ({62: [(7, 0, 0)], 63: []} if base else {}), s.events)
    check(name + "values", s.known and s.T == tick and sorted(s.units) == sorted(listed) and
          all(same(s.units[u], listed[u]) for u in listed), {u: vars(v) for u, v in s.units.items()})
    total = lists[-1].sum
    check(name + "hash", s.hash == total & 0xFFFFFFFF and "add up to %016x" % total in section and
          "| hash %08x |" % s.hash in section, hex(total))
    check(name + "chain", s.chain is None or "the chain hash at F, %016x |" % s.chain in section, s.chain)
    numbers = re.findall(r"\b[0-9a-f]{8,16}\b", re.sub("`[01 ]+`", "", section))
    check(name + "nothing-else-in-hex", len(numbers) == sum(len(x.rows) for x in lists) + (3 if s.chain else 2), numbers)
