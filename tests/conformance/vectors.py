"""Known answers of everything that is sealed or derived, from the client that was written from the standard."""
import json, struct
from hcast import *
from documents import ARENA


def check_vectors(check, file):
    """Writes them to the file."""
    fix = lambda n, x: bytes((x + i) & 255 for i in range(n))
    h = lambda b: b.hex()
    key, secret, nonce, client_nonce, server_nonce = fix(32, 1), fix(32, 33), fix(24, 65), fix(16, 97), fix(16, 129)
    tid, user, pid, cid, audience = fix(16, 160), fix(96, 3), 0x0123456789ABCDEF, 0x89ABCDE1, 77
    f = dict(key=key, key_id=5, protocol_id=pid, expire=2000000000, token_id=tid, client_id=424242, secret=secret, audience=audience, name=b"Ann", user=user, kind=0, rights=10, issued=1999999940, nonce=nonce)
    tok = seal_token(**f)
    server_secret, slot, port = fix(32, 200), 1234, 40001
    ck = cookie(server_secret, slot, "127.0.0.1", port, client_nonce)
    client_secret, server_secret_key = fix(32, 11), fix(32, 43)
    client_key, server_key = public_key(client_secret), public_key(server_secret_key)
    shared = exchange(client_secret, server_key)
    check("vectors.exchange", shared == exchange(server_secret_key, client_key))
    con = connect(pid, client_nonce, slot, ck, tok, secret, 2, 7, client_key)
    c2s, s2c = session_keys(secret, pid, tok, client_nonce, server_nonce, cid, client_key, server_key, shared)
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
    deny = struct.pack("<B7s16sBI", DENY, MAGIC, client_nonce, 2, 0)
    out = {
        "token": {"in": {k: h(v) if isinstance(v, bytes) else v for k, v in f.items()}, "note": "name is padded with zeros to 32 bytes", "out": h(tok)},
        "token_of_a_match": {"in": {k: h(v) if isinstance(v, bytes) else v for k, v in dict(f, match=300).items()}, "out": h(seal_token(**dict(f, match=300)))},
        "cookie": {"in": {"server_secret": h(server_secret), "slot": slot, "ip": h(ip16("127.0.0.1")), "port": port, "client_nonce": h(client_nonce)},
                   "note": "the port's two bytes are little-endian", "out": h(ck)},
        "connect": {"in": {"protocol_id": pid, "client_nonce": h(client_nonce), "slot": slot, "cookie": h(ck), "token": h(tok), "secret": h(secret), "players": 2, "continues": 7, "client_key": h(client_key), "extrapolations": 3}, "out": h(con)},
        "proof": {"in": {"secret": h(secret), "connect_bytes_0_to_1183": h(con[:1184])}, "out": h(con[1184:])},
        "keys": {"in": {"protocol_id": pid, "token": h(tok), "client_nonce": h(client_nonce), "server_nonce": h(server_nonce), "cid": cid, "secret": h(secret), "client_secret": h(client_secret), "server_key": h(server_key)},
                 "client_key": h(client_key), "shared": h(shared), "c2s": h(c2s), "s2c": h(s2c)},
        "reset": {"in": {"token_key": h(key), "cid": cid, "audience": audience, "ip": h(ip16("127.0.0.1")), "port": port}, "reset_token": h(rt), "out": h(b"\x41" + struct.pack("<I", cid) + rt)},
        "accept": {"in": {"client_nonce": h(client_nonce), "server_nonce": h(server_nonce), "cid": cid, "server_key": h(server_key), "s2c": h(s2c), "welcome": [1, 60, 8, 0x1122334455667788, 64, 64, 60, 1000, 12345, [3, 5], h(rt), 1, h(zeros)], "body": h(welcome)},
                   "note": "integers, arrays and binaries in their shortest msgpack form; the zeros fill the datagram", "out": h(head + seal(s2c, 0, head, welcome))},
        "data_input": {"in": {"c2s": h(c2s), "cid": cid, "seq": 17, "ack": 21, "ack_bits": 0xFFFFF, "input_fields": [[x.name, x.bits, x.signed] for x in fields],
                              "inputs_per_tick_per_player": ticks, "input": [2, 1012, 9, 4321, 2, 0, 3, h(run)]}, "run": h(run), "body": h(body), "out": h(data(c2s, cid, 17, 21, 0xFFFFF, body))},
        "names": {"in": {"names": [[p, since, h(name)] for p, since, name in names]},
                  "note": "integers, arrays and binaries in their shortest msgpack form", "out": h(pack([NAMES] + sum(names, [])))},
        "deny": {"in": {"client_nonce": h(client_nonce), "reason": 2, "retry_ms": 0, "secret": h(secret)}, "out": h(deny + mac16(secret, deny))},
        "xxh3": {"chain_step": {"in": {"world_hash": 0x0102030405060708, "seed": 0x1112131415161718}, "out": "%016x" % xxh3(struct.pack("<Q", 0x0102030405060708), 0x1112131415161718)},
                 "protocol_id": {"in": {"magic": h(MAGIC), "rule_hash": 0x3132333435363738, "game_hash": 0x21A2A3A4A5A6A7A8},
                                  "out": "%016x" % xxh3(MAGIC + struct.pack("<Q", 0x3132333435363738), 0x21A2A3A4A5A6A7A8)}},
    }
    json.dump(out, open(file, "w"), indent=1)
    f = open_token(key, pid, tok)
    check("vectors.token-opens", f and f["match"] == 0 and f["secret"] == secret and len(tok) == 244 and len(con) == 1200)
