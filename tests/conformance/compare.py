"""Answers to the question where worlds differ, as section 5 of the standard (COMPARE, DIFFERS) has them."""


def read_differs(reader, m):
    """The as_of, the unit, and of each entity that is told the fields (None: absent) of a DIFFERS; None: it is
    malformed."""
    numbers = len(m) == 4 and all(type(x) is int for x in m[1:3]) and 0 <= m[1] < 0xFFFFFFFF
    if not numbers or not 0 <= m[2] < len(reader.units) or not isinstance(m[3], bytes) or not 1 <= len(m[3]) <= 1000:
        return None
    entities, left = [], m[3]
    for kind in reader.units[m[2]][1]:
        fields = reader.game.kinds[kind] if left[:1] == b"\2" else ()
        size = 1 + sum(f.size for f in fields)
        if not left:
            break
        if left[0] not in (1, 2) or len(left) < size:
            return None
        at, values = 1, []
        for f in fields:
            values.append(int.from_bytes(left[at:at + f.size], "little", signed=bool(f.signed)))
            at += f.size
        entities.append(values if fields else None)
        left = left[size:]
    return None if left else (m[1], m[2], entities)


def hashes_of(reader, s):
    """The 16 bits of each unit with a value in a snapshot whose values are known."""
    units = [(reader.units[unit], s.units[unit].ents) for unit in sorted(s.units)]
    return [sum(reader.entity_hash(first + i, kind, e) for i, (kind, e) in enumerate(zip(kinds, ents))) & 0xFFFF
            for (first, kinds), ents in units]
