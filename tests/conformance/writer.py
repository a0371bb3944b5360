"""Writes snapshots, the other way round than hcast.Reader reads them, and names each field that it writes.

So vectors can be made of values that nobody's server had to compute. All extrapolation is by hold or linear.
"""
from hcast import *

AGAIN, NOTHING, DROPPED = "again", "nothing", "dropped"      # how a unit is sent; a number is the age of its head


class Written:
    """Bits, and what they are: `fields` has (name, value, bits)."""

    def __init__(self):
        self.bits, self.fields = "", []

    def put(self, name, value, bits):
        self.bits += bits
        self.fields.append([name, value, bits])

    def u(self, name, value, count):
        self.put(name, value, low_first(value, count))

    def number(self, name, n, value):
        bits, x = "", value
        while x > 0:
            bits += "1" + low_first((x - 1) % 2 ** n, n)
            x = (x - 1) // 2 ** n
        self.put(name, value, bits + "0")

    def bytes(self):
        padded = self.bits + "0" * (-len(self.bits) % 8)
        return bytes(int(padded[i:i + 8][::-1], 2) for i in range(0, len(padded), 8))


def low_first(value, count):
    return "".join(str(value >> i & 1) for i in range(count))


def some(flags):
    return "".join(map(str, flags[:-1])) + (str(flags[-1]) if any(flags[:-1]) else "")


def few(flags):
    return "".join(map(str, flags[:-1])) + (str(flags[-1]) if 0 < sum(flags[:-1]) < len(flags) - 1 else "")


def mask(flags):
    quads = [flags[i:i + 4] for i in range(0, len(flags), 4)]
    newest = max([i for i, quad in enumerate(quads) if any(quad)], default=0)
    bits = ""
    for i, quad in enumerate(quads[:newest + 1]):
        last, here, later = i == len(quads) - 1, any(quad), i < newest
        bits += "" if last and i else str(int(here))
        bits += "" if last or i and not here else str(int(later))
        if here and len(quad) > 1:
            bits += str(int(all(quad))) + ("" if all(quad) else few(quad))
    return bits


def residual(field, d):
    d = (d + 2 ** (field.bits - 1)) % 2 ** field.bits - 2 ** (field.bits - 1)
    r, k = 2 * d - 1 if d > 0 else -2 * d - 2, STANDARD["parameter"](field)
    last, n = field.bits - k if k else field.bits - 1, 0
    while n < last and r - (2 ** n - 1) * 2 ** k >= 2 ** (k if k + n == field.bits else k + n):
        n += 1
    return "1" * n + ("0" if n < last else "") + low_first(r - (2 ** n - 1) * 2 ** k, k if k + n == field.bits else k + n)


class Writer:
    """Writes what the `reader` of a client will read; `reader.hold` it when the client has acknowledged it."""

    def __init__(self, reader):
        self.reader, self.game = reader, reader.game

    def input(self, w, name, before, now):
        flags = [int(a != b) for a, b in zip(before, now)]
        w.put(name + " fields", [f.name for f, on in zip(self.game.input, flags) if on], some(flags))
        for f, a, b, on in zip(self.game.input, before, now, flags):
            if on:
                w.put(name + " " + f.name, b, residual(f, b - a))

    def value(self, w, unit, base, v):
        name, blank = "unit %d" % unit, [0] * len(self.game.input)
        kinds, player = self.reader.units[unit][1], 1 <= unit <= self.reader.players
        ents, inp, age = [None] * len(kinds), None, 0
        if base:
            ents, inp, age = self.reader.extrapolate(base, unit, v.tick - base.tick), base.inp, base.age
        owner = player and (inp, age) != (v.inp, v.age)
        against = self.references(unit, ents, inp or blank, v)
        changed = [int((a is None) != (b is None) or b is not None and b != r)
                   for a, b, r in zip(ents, v.ents, against)]
        same = not owner and not any(changed)
        w.u(name + " is as extrapolated", int(same), 1)
        if same:
            return
        if player:
            others = any(changed[1:])
            flags = [int(owner), changed[0], int(others)][:3 if len(kinds) > 1 else 2]
            w.put(name + " which", flags, some(flags) + (some(changed[1:]) if others else ""))
        if owner:
            self.owner(w, name, inp or blank, age, v)
        for i, kind in enumerate(kinds):
            if changed[i] or not player:
                self.entity(w, "%s entity %d" % (name, self.reader.units[unit][0] + i), kind, ents[i], against[i], v.ents[i])

    def owner(self, w, name, before, age, v):
        d = v.age - age
        other = v.age and (v.inp or before) != before
        a = 0 if other and d == 0 else 2 * d if d > 0 else -2 * d - 1
        w.number(name + " a, for the age %d" % v.age, 2, a)
        if v.age and a:
            w.u(name + " another input", int(other), 1)
        if other:
            self.input(w, name + " input", before, v.inp)

    def entity(self, w, name, kind, old, against, new):
        fields = self.game.kinds[kind]
        flags = [int(new is not None and a != b) for a, b in zip(against, new or against)]
        w.put(name + " mask", [f.name for f, on in zip(fields, flags) if on], mask(flags))
        for f, a, b, on in zip(fields, against, new or against, flags):
            if on:
                w.put("%s %s" % (name, f.name), b, residual(f, b - a))

    def references(self, unit, ents, before, v):
        """What each entity is encoded against (Deltas)."""
        kinds, out = self.reader.units[unit][1], []
        for i, kind in enumerate(kinds):
            fields, first = self.game.kinds[kind], v.ents[0]
            if ents[i] is not None:
                out.append([f.wrap((v.inp or before)[j]) if unit and i == 0 and j is not None and
                            before[j] != (v.inp or before)[j] and f.wrap(before[j]) == x else x
                            for f, x, j in zip(fields, ents[i], map(self.number_of, fields))])
            elif i and first is not None:
                of_first = {f.name: x for f, x in zip(self.game.kinds[kinds[0]], first)}
                out.append([f.wrap(of_first.get(f.name, 0)) for f in fields])
            else:
                out.append([0] * len(fields))
        return out

    def number_of(self, field):
        return next((j for j, f in enumerate(self.game.input) if f.name == field.name), None)

    def snapshot(self, as_of, T, refused_before, F, A, units, base=None, how=HOLD, phase=0, ack_delay=0, chain=None,
                 forced=(), roster=(), events=None, runs={}, corrections=(), hash_off=0, margin=None,
                 inputs_from=None, early=None):
        """`units`: by number, how it is sent and its Value. `corrections`: tick, unit, how (NOTHING, or a head and
        whether it is the same tick), Value; ascending by unit within a tick, newest tick first."""
        r, w = self.reader, Written()
        r.how = how
        w.u("as_of, low half", as_of & 0xFFFF, 16)
        w.number("phase_us", 8, phase)
        w.number("ack_delay_us", 8, ack_delay)
        w.number("as_of - T", 4, as_of - T)
        w.number("as_of - refused_before", 5, as_of - refused_before)
        w.number("as_of - F", 4, as_of - F)
        total = sum(r.entity_hash(r.units[u][0] + i, kind, e) for u, (sent, v) in units.items() if sent != DROPPED
                    for i, (kind, e) in enumerate(zip(r.units[u][1], v.ents)))
        w.u("hash", (total + hash_off) & 0xFFFFFFFF, 32)
        w.u("has chain", int(chain is not None), 1)
        if chain is not None:
            w.put("chain", "%016x" % chain, low_first(chain, 64))
        w.u("has base", int(base is not None), 1)
        if base is not None:
            n = as_of - base - 1
            w.u("as_of - base - 1", min(n, 63), 6)
            if n >= 63:
                w.number("more", 8, n - 63)
            w.u("how", how, 2)
        for a in A:
            w.number("A + 1 - T", 3, a + 1 - T)
        self.margin(w, margin)
        inputs_from = T if inputs_from is None else inputs_from
        w.number("T - the tick of the first inputs", 2, T - inputs_from)
        self.lists(w, T, forced, roster)
        if self.game.event_bits:
            self.events(w, F, events or {})
        self.units(w, base, units)
        self.values(w, inputs_from, base, units, runs)
        self.corrections(w, as_of, T, corrections)
        before = T + 1
        for tick in sorted(early or {}, reverse=True):
            w.u("early tick", 1, 1)
            w.number("gap to the early tick %d" % tick, 2, before - tick - 1)
            self.events_of(w, tick, early[tick])
            before = tick
        return w

    def margin(self, w, margin):
        """`margin`: the samples, and with some the low one and the median."""
        w.u("has margin", int(margin is not None), 1)
        if margin is not None:
            samples, *units = margin
            w.number("samples", 4, samples)
        if margin and samples:
            low, median = units
            w.number("z, for the low %d" % low, 5, 2 * low if low >= 0 else -2 * low - 1)
            w.number("median - low", 5, median - low)

    def lists(self, w, T, forced, roster):
        for own, first, count in forced:
            w.u("forced", 1, 1)
            w.u("forced own", own, 2)
            w.number("T - first", 5, T - first)
            w.number("count - 1", 3, count - 1)
        w.u("no more forced", 0, 1)
        for player, tick, leave in roster:
            w.u("roster", 1, 1)
            w.number("roster player", 6, player)
            w.number("z, for the tick %d" % tick, 4, 2 * (tick - T) if tick >= T else 2 * (T - tick) - 1)
            w.u("leave", leave, 1)
        w.u("no more roster changes", 0, 1)

    def events(self, w, F, ticks):
        w.u("game events", int(bool(ticks)), 1)
        if not ticks:
            return
        w.number("F - last", 4, F - max(ticks))
        w.number("ticks - 1", 2, len(ticks) - 1)
        for tick in sorted(ticks):
            self.events_of(w, tick, ticks[tick])

    def events_of(self, w, tick, events):
        entities = self.reader.units[-1][0] + len(self.reader.units[-1][1])
        for entity, number, kind in events:
            w.u("event of %d" % tick, 1, 1)
            w.u("event entity", entity, (entities - 1).bit_length())
            w.u("event kind", kind, (len(self.game.event_bits) - 1).bit_length())
            w.u("event number", number, self.game.event_bits[kind])
        w.u("no more of %d" % tick, 0, 1)

    def units(self, w, base, units):
        before = sorted(u for u in self.reader.known.get(base, {}) if type(u) is int)
        flags = [int(units.get(u, ("",))[0] == AGAIN) for u in before]
        if before:
            w.u("all of the base again", int(all(flags)), 1)
        if before and not all(flags):
            at, turn = 0, 1
            while at < len(flags):
                n = next((i for i, x in enumerate(flags[at:]) if x != turn), len(flags) - at)
                w.number("again" if turn else "not again, less 1", *((3, n) if not at else (3, n - 1) if turn else (2, n - 1)))
                at, turn = at + n, 1 - turn
        others = [u for u in sorted(units) if units[u][0] != AGAIN]
        w.number("others", 4, len(others))
        at = 0
        for u in others:
            w.number("gap to unit %d" % u, 4, u - at)
            sent = units[u][0]
            w.put("from", sent, "01" if sent == NOTHING else "00" if sent == DROPPED else "1" + low_first(sent, 6))
            at = u + 1

    def values(self, w, inputs_from, base, units, runs):
        r = self.reader
        for u in sorted(units):
            sent, v = units[u]
            if sent == DROPPED:
                continue
            head = base if sent == AGAIN else base - 1 - sent if sent != NOTHING else None
            self.value(w, u, r.known[head][u] if head is not None else None, v)
            if 1 <= u <= r.players:
                self.runs(w, u, inputs_from, v, runs.get(u, ()))

    def runs(self, w, u, at, v, runs):
        """`runs`: the first tick and the inputs of each."""
        w.number("unit %d runs" % u, 1, len(runs))
        before = v.inp or [0] * len(self.game.input)
        for first, inputs in runs:
            w.number("gap to tick %d" % first, 1, first - at)
            w.number("count - 1", 2, len(inputs) - 1)
            for inp in inputs:
                w.u("another input", int(inp != before), 1)
                if inp != before:
                    self.input(w, "input", before, inp)
                before = inp
            at = first + len(inputs)

    def corrections(self, w, as_of, before, corrections):
        r = self.reader
        for at in sorted({tick for tick, *_ in corrections}, reverse=True):
            row = [(u, sent, v) for tick, u, sent, v in corrections if tick == at]
            w.u("corrections", 1, 1)
            w.number("before - at - 1", 3, before - at - 1)
            w.number("count - 1", 3, len(row) - 1)
            next_unit = 0
            for u, sent, v in row:
                w.number("gap to unit %d" % u, 2, u - next_unit)
                w.u("against a baseline", int(sent != NOTHING), 1)
                base = None
                if sent != NOTHING:
                    head, same = sent
                    w.u("as_of - head - 1", as_of - head - 1, 7)
                    w.u("same", int(same), 1)
                    base = r.known[head][(u, at) if same and (u, at) in r.known[head] else u]
                self.value(w, u, base, v)
                next_unit = u + 1
            before = at
        w.u("no more corrections", 0, 1)
