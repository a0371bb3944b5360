"""Bodies of the server that the client of session.py refuses after its connection, each with the reason."""
from session import *


def next_snapshot(w, **other):
    """The next one of the session, with some things otherwise. It has every part that a fault can be in."""
    units = {0: (AGAIN, referee(110, 6993)), 1: (AGAIN, runner(110, 3190, shot(2), None, 70, SHOT, 1)),
             2: (AGAIN, shooter(110, 3220, 3790, 400, 400, 13, AIMED, 1, 80)), 4: (AGAIN, pickup(110, 0)), 5: (NOTHING, pickup(110, 1))}
    given = dict(as_of=111, T=110, refused_before=47, F=109, A=[109], units=units, base=108, how=LINEAR,
                 margin=(2, -67, 40), forced=[(0, 107, 2)],
                 roster=[(2, 108, 0)], events={108: [(1, 0, 0), (2, 0, 0)]}, early={110: [(1, 0, 0)]}, runs={1: [(110, [SHOT, LEFT])]},
                 corrections=[(109, 1, (108, False), runner(109, 3219, shot(3), None, 70, SHOT, 1))])
    return w.snapshot(**dict(given, **other))


def instead(written, name, bits, skip=0):
    """The same with other bits in the field of this name, after `skip` others of it."""
    out, at = Written(), [i for i, field in enumerate(written.fields) if field[0] == name][skip]
    for i, (n, value, b) in enumerate(written.fields):
        out.put(n, value, bits if i == at else b)
    return out


def number(n, value):
    w = Written()
    w.number("", n, value)
    return w.bits


def malformed_snapshots(w):
    good = next_snapshot(w)
    raw = good.bytes()
    need(len(good.bits) % 8, "bits that fill the last byte")
    bare = dict(base=None, how=HOLD, corrections=(), runs={})
    nothing = next_snapshot(w, **bare, units={0: (NOTHING, referee(110, 5))})
    aged = next_snapshot(w, **bare, units={2: (NOTHING, shooter(110, 1, 2, 0, 0, 0, [0, 0, 1, 0], 1))})
    faults = (
        ("how is 3", "how", "11"),
        ("as_of is more than 4290772991", "as_of, low half", low_first(0xFFFF, 16)),
        ("phase_us is more than 10000000", "phase_us", number(8, 10000001)),
        ("ack_delay_us is more than 10000000", "ack_delay_us", number(8, 10000001)),
        ("a number of more than 32 bits", "phase_us", ("1" + "1" * 8) * 5 + "0"),
        ("T is more than 512 before as_of", "as_of - T", number(4, 513)),
        ("T is below tick 0", "as_of - T", number(4, 112)),
        ("refused_before is below tick 0", "as_of - refused_before", number(5, 112)),
        ("F is below tick 0", "as_of - F", number(4, 112)),
        ("the base is below tick 0", "as_of - base - 1", "1" * 6 + number(8, 49)),
        ("A is more than 2^20 after T", "A + 1 - T", number(3, (1 << 20) + 1)),
        ("a margin of 257 samples", "samples", number(4, 257)),
        ("a low margin of more than 32767", "z, for the low -67", number(5, 65536)),
        ("a median margin of more than 32767", "median - low", number(5, 32767 + 68)),
        ("inputs from more than 64 ticks before T", "T - the tick of the first inputs", number(2, 65)),
        ("a forced range of an own player that is not there", "forced own", "10"),
        ("a forced range that begins below tick 0", "T - first", number(5, 111)),
        ("a forced range of 513 ticks", "count - 1", number(3, 512)),
        ("a roster change of a player that is not there", "roster player", number(6, 3)),
        ("a roster change below tick 0", "z, for the tick 108", number(4, 221)),
        ("game events of a tick 256 before F", "F - last", number(4, 256)),
        ("a game event of an entity that is not there", "event entity", "11111"),
        ("a game event of a kind that is not there", "event kind", "111"),
        ("game events out of their order", "event entity", low_first(3, 5)),
        ("early events of a final tick", "gap to the early tick 110", number(2, 1)),
        ("all units of the base, by turns", "all of the base again", "0" + number(3, 5)),
        ("more units than the world has", "gap to unit 5", number(4, 6)),
        ("a unit twice", "gap to unit 5", number(4, 4)),
        ("a residual that no field has", "unit 1 entity 1 x", "1" * 9 + "1" * 7),
        ("an age below 0", "unit 2 a, for the age 1", number(2, 5)),
        ("inputs of an own player", "unit 2 runs", number(1, 1) + "000"),
        ("a correction below tick 0", "before - at - 1", number(3, 110)),
        ("a correction against a head below tick 0", "as_of - head - 1", "1" * 7),
        ("a correction of a unit that is not there", "gap to unit 1", number(2, 6)))
    return [(why, instead(good, name, bits).bytes()) for why, name, bits in faults] + [
        ("a run of 513 ticks", instead(good, "count - 1", number(2, 512), 1).bytes()),
        ("a baseline without a base", instead(nothing, "from", "1" + "0" * 6).bytes()),
        ("an age of 0 with a = 0", instead(aged, "unit 2 a, for the age 1", number(2, 0)).bytes()),
        ("the bits run out", raw[:-1]), ("a byte too many", raw + b"\0"), ("no bits", b""),
        ("the bits that fill the byte are not zeros", raw[:-1] + bytes([raw[-1] | 0x80]))]


def rejected_snapshots(w):
    """They are well formed."""
    good = next_snapshot(w)
    old = next_snapshot(w, as_of=108, T=108, refused_before=44, F=108, A=[107], base=106, forced=(), roster=(), events=None, early=None,
                        runs={}, corrections=(), units={0: (AGAIN, referee(108, 6995))})
    return [("another hash", next_snapshot(w, hash_off=1).bytes()), ("a head that has come", old.bytes()),
            ("a base that was never sent", instead(good, "as_of - base - 1", low_first(3, 6)).bytes())]


def malformed_messages():
    deep = b"\xc0"
    for _ in range(8):
        deep = b"\x91" + deep
    events, names = lambda *values: pack([RELIABLE, *values]), lambda *values: pack([NAMES, *values])
    notice = lambda *values: pack([NOTICE, *values])
    return [
        ("a body that ends within a message", b"\x93\x71\x01"),
        ("a message that is no array", b"\xc0"),
        ("an empty array", b"\x90"),
        ("a message without a type", b"\x91\xc0"),
        ("a type in a long form", b"\x92\xcc\x04\x03"),
        ("an unknown type below 112", b"\x91\x6f"),
        ("type 0", b"\x91\x00"),
        ("a type twice", pack([UNRELIABLE, b"a"]) + pack([UNRELIABLE, b"b"])),
        ("a map", b"\x92\x71\x81\x01\x02"),
        ("a float", b"\x92\x71\xca\x3f\x80\x00\x00"),
        ("an extension", b"\x92\x71\xd4\x01\x00"),
        ("a length of 32 bits", b"\x92\x71\xc6\x00\x00\x00\x01\x00"),
        ("a string that is not UTF-8", b"\x92\x71\xa1\xff"),
        ("arrays nested 9 deep", b"\x92\x71" + deep),
        ("a WELCOME in DATA", pack([WELCOME, RATE, PLAYERS, 9, 64, 64, 64, TICK, 0, [OWN], bytes(16), 0, b""])),
        ("an INPUT of a server", pack([INPUT, TICK, 0, 0, 0, 0, 0, b""])),
        ("a PATH_RESPONSE of a server", pack([RESPONSE, bytes(8)])),
        ("a SNAPSHOT that is no binary", pack([SNAPSHOT, 7])),
        ("a SNAPSHOT with a value too many", pack([SNAPSHOT, b"\0", None])),
        ("a CLOSE beside another message", pack([CLOSE, 3]) + pack([UNRELIABLE, b"a"])),
        ("a CLOSE without a reason", pack([CLOSE])),
        ("a CLOSE with reason 0", pack([CLOSE, 0])),
        ("a CLOSE with reason 256", pack([CLOSE, 256])),
        ("a CLOSE of another world without its tick", pack([CLOSE, 6])),
        ("a CLOSE of a restart after 301 s", pack([CLOSE, 7, 301])),
        ("a TICKET with a token of 243 bytes", pack([TICKET, bytes(243), bytes(32), bytes(16)])),
        ("a TICKET without a reset_token", pack([TICKET, bytes(244), bytes(32)])),
        ("a PATH_CHALLENGE of 7 bytes", pack([CHALLENGE, bytes(7)])),
        ("no event", events(4)),
        ("an event number of 0", events(0, b"a")),
        ("an event number of 4294967295", events(4294967295, b"a")),
        ("an event without bytes", events(4, b"")),
        ("an event of 256 bytes", events(4, bytes(256))),
        ("a gap before the first event", events(4, 1, b"a")),
        ("a gap after the last event", events(4, b"a", 1)),
        ("two gaps", events(4, b"a", 1, 1, b"b")),
        ("a gap of 0", events(4, b"a", 0, b"b")),
        ("a gap of 255", events(4, b"a", 255, b"b")),
        ("an event 256 after the oldest that is missing", events(4 + 256, b"a")),
        ("no unreliable message", pack([UNRELIABLE])),
        ("17 unreliable messages", pack([UNRELIABLE] + [b"a"] * 17)),
        ("an unreliable message without bytes", pack([UNRELIABLE, b""])),
        ("no name", names()),
        ("17 names", names(*[x for player in range(17) for x in (player, 0, b"a")])),
        ("a name of a player that is not there", names(PLAYERS, 0, b"a")),
        ("names out of their order", names(1, 0, b"a", 0, 0, b"b")),
        ("a name since no tick", names(0, NO_TICK, b"a")),
        ("a name without its bytes", names(0, 5)),
        ("a name of 0 bytes", names(0, 5, b"")),
        ("a name of 33 bytes", names(0, 5, b"a" * 33)),
        ("a name with a control character", names(0, 5, b"a\nb")),
        ("a name in overlong UTF-8", names(0, 5, b"\xc1\x81")),
        ("a COMPARE of a server", pack([COMPARE, 108, bytes(2)])),
        ("a DIFFERS without values", pack([DIFFERS, 108, 0, b""])),
        ("a DIFFERS of 1001 bytes", pack([DIFFERS, 108, 0, b"\1" * 1001])),
        ("a DIFFERS of a unit that is not there", pack([DIFFERS, 108, 6, b"\1"])),
        ("a DIFFERS with a presence of 3", pack([DIFFERS, 108, 0, b"\3"])),
        ("a DIFFERS that ends within an entity", pack([DIFFERS, 108, 0, b"\2\0\0\0"])),
        ("a DIFFERS with an entity too many", pack([DIFFERS, 108, 0, b"\1\1"])),
        ("a NOTICE of number 0", notice(0, 1, 0, b"", b"a")),
        ("a NOTICE of kind 0", notice(1, 0, 0, b"", b"a")),
        ("a NOTICE of 86401 seconds", notice(1, 2, 86401, b"", b"")),
        ("a NOTICE with a space in its address", notice(1, 2, 0, b"example.net 40000", b"")),
        ("a NOTICE with an address of 101 bytes", notice(1, 2, 0, b"a" * 101, b"")),
        ("a NOTICE with a control character", notice(1, 1, 0, b"", b"\x1b[2J")),
        ("a NOTICE with a text of 201 bytes", notice(1, 1, 0, b"", b"a" * 201)),
        ("a NOTICE without a text", notice(1, 1, 0, b"")),
        ("a NOTICE with a value too many", notice(1, 1, 0, b"", b"a", 0)),
        ("a name with a bidirectional control", names(0, 5, "a\u202eb".encode())),
    ]


def bodies(w):
    """malformed, rejected, and well_formed ones that are taken after those."""
    listed = lambda pairs: [{"why": why, "body": body} for why, body in pairs]
    snapshots = lambda pairs: [("a SNAPSHOT: " + why, pack([SNAPSHOT, raw])) for why, raw in pairs]
    return {
        "malformed": listed(malformed_messages() + snapshots(malformed_snapshots(w))),
        "rejected": listed(snapshots(rejected_snapshots(w))),
        "well_formed": [
            pack([SNAPSHOT, next_snapshot(w).bytes()]), pack([CHALLENGE, bytes(8)]), pack([DIFFERS, 108, 1, b"\1"]),
            pack([RELIABLE, 4, b"a", 3, bytes(255)]),
            pack([UNRELIABLE] + [b"a"] * 16), pack([NAMES, 0, 5, b"a" * 32, 2, NO_TICK - 1, b"b"]),
            pack([NOTICE, 8, 255, 0, b"a" * 100, b"a" * 200]), b"\x92\x71" + b"\x91" * 7 + b"\xc0", b""]}
