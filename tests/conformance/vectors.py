"""Known answers, from the client that was written from the standard.

    /usr/bin/python3 vectors.py            prints vectors.json
    /usr/bin/python3 vectors.py --check    fails unless that file is what would be printed

`known_answers` has what is sealed, derived or packed. `connection` is a short session with all its secrets: each
datagram, and what it holds; of a SNAPSHOT each field with its bits, and the values. `reconnection` is the next
one of the session, which it resumes. `malformed` and `rejected` are bodies of the server that a client refuses
after `connection`, each with the reason, and `well_formed` are some that it then takes. Binaries are in hex.
Everything is fixed: no server takes part.
"""
import json, os, struct, sys
from hcast import *
from documents import ARENA
from refused import bodies
from session import Session, fix

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")


def plain(x):
    """The same with binaries in hex."""
    if isinstance(x, bytes):
        return x.hex()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


def known_answers():
    key, secret, nonce, client_nonce, server_nonce = fix(32, 1), fix(32, 33), fix(24, 65), fix(16, 97), fix(16, 129)
    tid, user, pid, cid, audience = fix(16, 160), fix(96, 3), 0x0123456789ABCDEF, 0x89ABCDE1, 77
    f = dict(key=key, key_id=5, protocol_id=pid, expire=2000000000, token_id=tid, client_id=424242, secret=secret, audience=audience, name=b"Ann", user=user, kind=0, rights=10, issued=1999999940, nonce=nonce)
    tok = seal_token(**f)
    server_secret, slot, port = fix(32, 200), 1234, 40001
    ck = cookie(server_secret, slot, "127.0.0.1", port, client_nonce)
    client_secret, server_secret_key = fix(32, 11), fix(32, 43)
    client_key, server_key = public_key(client_secret), public_key(server_secret_key)
    shared = exchange(client_secret, server_key)
    former_key = fix(32, 75)
    con = connect(pid, client_nonce, slot, ck, tok, secret, 2, 7, client_key, continue_key=former_key)
    c2s, s2c, continues = session_keys(secret, pid, tok, client_nonce, server_nonce, cid, client_key, server_key, shared)
    rt = reset_token(key, cid, audience, ("127.0.0.1", port))
    values = [WELCOME, 60, 8, 0x1122334455667788, 64, 64, 60, 1000, 12345, [3, 5], rt, 1]
    zeros = bytes(1108 - 3 - len(pack(values)))
    welcome = pack(values + [zeros])
    head = struct.pack("<B7s16s16sI32s", ACCEPT, MAGIC, client_nonce, server_nonce, cid, server_key)
    fields = ARENA.input
    ticks = [[[1, -1, 64, 1], [0, 0, 0, 0]], [[1, -1, 64, 1], [-1, 0, 255, 0]], [[0, 0, 65, 0], [-1, 0, 255, 0]]]
    run = write_inputs(ticks, fields, [[0] * 4] * 2)
    body = pack([INPUT, 1012, 9, 4321, 2, 0, 3, run])
    names = [[0, 7, "Ann".encode()], [3, 70000, "J\u00fcrgen".encode()], [300, 0, b"x" * 32]]
    deny = lambda reason, retry_ms: struct.pack("<B7s16sBI", DENY, MAGIC, client_nonce, reason, retry_ms)
    denial = lambda reason, retry_ms, note: {
        "in": {"client_nonce": client_nonce, "reason": reason, "retry_ms": retry_ms, "secret": secret}, **note,
        "out": deny(reason, retry_ms) + mac16(secret, deny(reason, retry_ms))}
    return {
        "token": {"in": f, "note": "name is padded with zeros to 32 bytes", "out": tok},
        "token_of_a_match": {"in": dict(f, match=300), "out": seal_token(**dict(f, match=300))},
        "cookie": {"in": {"server_secret": server_secret, "slot": slot, "ip": ip16("127.0.0.1"), "port": port, "client_nonce": client_nonce},
                   "note": "the port's two bytes are little-endian", "out": ck},
        "connect": {"in": {"protocol_id": pid, "client_nonce": client_nonce, "slot": slot, "cookie": ck, "token": tok, "secret": secret, "players": 2, "continues": 7, "continue_key": former_key, "client_key": client_key, "extrapolations": 3}, "out": con},
        "continue_proof": {"in": {"continue_key": former_key, "connect_bytes_0_to_333": con[:334]}, "out": con[334:350]},
        "proof": {"in": {"secret": secret, "connect_bytes_0_to_1183": con[:1184]}, "out": con[1184:]},
        "keys": {"in": {"protocol_id": pid, "token": tok, "client_nonce": client_nonce, "server_nonce": server_nonce, "cid": cid, "secret": secret, "client_secret": client_secret, "server_key": server_key},
                 "client_key": client_key, "shared": shared, "c2s": c2s, "s2c": s2c, "continues": continues},
        "reset": {"in": {"token_key": key, "cid": cid, "audience": audience, "ip": ip16("127.0.0.1"), "port": port}, "reset_token": rt, "out": b"\x41" + struct.pack("<I", cid) + rt},
        "accept": {"in": {"client_nonce": client_nonce, "server_nonce": server_nonce, "cid": cid, "server_key": server_key, "s2c": s2c, "welcome": [1, 60, 8, 0x1122334455667788, 64, 64, 60, 1000, 12345, [3, 5], rt, 1, zeros], "body": welcome},
                   "note": "integers, arrays and binaries in their shortest msgpack form; the zeros fill the datagram", "out": head + seal(s2c, 0, head, welcome)},
        "data_input": {"in": {"c2s": c2s, "cid": cid, "seq": 17, "ack": 21, "ack_bits": 0xFFFFF, "input_fields": [[x.name, x.bits, x.signed] for x in fields],
                              "inputs_per_tick_per_player": ticks, "input": [2, 1012, 9, 4321, 2, 0, 3, run]}, "run": run, "body": body, "out": data(c2s, cid, 17, 21, 0xFFFFF, body)},
        "names": {"in": {"names": names},
                  "note": "integers, arrays and binaries in their shortest msgpack form", "out": pack([NAMES] + sum(names, []))},
        "deny": denial(2, 0, {}),
        "deny_of_a_later_version": denial(40, 1500, {"note": "a client takes reasons that it does not know"}),
        "protocol_id": {"in": {"magic": MAGIC, "rule_hash": 0x3132333435363738, "game_hash": 0x21A2A3A4A5A6A7A8},
                        "out": struct.pack(">Q", xxh3(MAGIC + struct.pack("<Q", 0x3132333435363738), 0x21A2A3A4A5A6A7A8))},
    }


def vectors():
    """The session, and all vectors."""
    s = Session().play()
    after = Session().play().reconnect()
    return s, plain({"known_answers": known_answers(), "connection": {**s.given(), "datagrams": s.log},
                     "reconnection": {"datagrams": after}, **bodies(s.writer)})


def text(value, indent=0):
    """JSON, with what fits on a line and lists of scalars on one line."""
    line, pad = json.dumps(value), " " * (indent + 1)
    if isinstance(value, dict):
        items = [json.dumps(k) + ": " + text(v, indent + 1) for k, v in value.items()]
    elif len(line) < 120 or not isinstance(value, list) or not any(isinstance(x, (dict, list)) for x in value):
        return line
    else:
        items = [text(x, indent + 1) for x in value]
    return line[0] + "\n" + pad + (",\n" + pad).join(items) + "\n" + " " * indent + line[-1]


def refuses(s, body):
    """Whether the client of the session refuses a body of the server, and does not acknowledge it."""
    c = s.client
    newest = c.newest
    taken = c.on_datagram(data(c.s2c, c.cid, newest + 1, 0, 0, body))
    return taken == 0 and c.newest == newest


def is_printed(out):
    with open(FILE, encoding="utf-8") as f:
        return f.read() == text(out) + "\n"


def check_vectors(check):
    s, out = vectors()
    bad = s.client.bad
    check("vectors.are-as-printed", is_printed(out))
    check("vectors.at-least-20-malformed", len(out["malformed"]) >= 20)
    for of in ("malformed", "rejected"):
        for x in out[of]:
            before = len(bad)
            refused = refuses(s, bytes.fromhex(x["body"]))
            check("vectors.%s.%s" % (of, x["why"].replace(" ", "-")), refused and (len(bad) > before) == (of == "malformed"), bad[before:])
    for i, body in enumerate(out["well_formed"]):
        check("vectors.well-formed.%d" % i, not refuses(s, bytes.fromhex(body)), bad[-1:])


def main():
    if sys.argv[1:] == ["--check"]:
        if not is_printed(vectors()[1]):
            sys.exit("vectors.json is not what this script prints")
    elif len(sys.argv) == 1:
        print(text(vectors()[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
