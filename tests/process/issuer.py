#!/usr/bin/env python3
"""An issuer of tokens that was written from docs/BACKEND.md alone, without any cryptographic library.

    issuer.py check PAGE    fails unless each vector of the page follows from its inputs
    issuer.py print         prints the vectors as the page shows them
    issuer.py issue KEY_FILE PROTOCOL_ID CLIENT_ID NAME    prints a token for a minute, with its secret

It follows RFC 8439 and the draft of XChaCha20. It is slow, and not safe against timing: it serves tests.
"""
import base64, os, re, struct, sys, time

FIELDS = ("key_id", "key", "protocol_id", "kind", "players", "watch", "match", "expire_s", "issued_s", "nonce",
          "token_id", "client_id", "secret", "audience", "name", "user_data")
RESULTS = ("clear", "aad", "plain", "subkey", "token", "text")
BINARY = {"key": 32, "nonce": 24, "token_id": 16, "secret": 32, "name": 32, "user_data": 96}
LINE = 64  # characters of a value on a line of the page


def rounds(x):
    def quarter(a, b, c, d):
        for to, by, bits in (a, b, 16), (c, d, 12), (a, b, 8), (c, d, 7):
            x[to] = x[to] + x[by] & 0xffffffff
            at = d if to == a else b
            mixed = x[at] ^ x[to]
            x[at] = (mixed << bits | mixed >> 32 - bits) & 0xffffffff
    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return x


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def hchacha20(key, nonce):
    x = rounds(list(CONSTANTS + struct.unpack("<8I4I", key + nonce)))
    return struct.pack("<8I", *x[:4], *x[12:])


def block(key, counter, nonce):
    start = CONSTANTS + struct.unpack("<8I", key) + (counter,) + struct.unpack("<3I", nonce)
    return struct.pack("<16I", *(a + b & 0xffffffff for a, b in zip(start, rounds(list(start)))))


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    sum = 0
    for i in range(0, len(message), 16):
        sum = (sum + int.from_bytes(message[i:i + 16] + b"\1", "little")) * r % (2 ** 130 - 5)
    return (sum + int.from_bytes(key[16:], "little") & 2 ** 128 - 1).to_bytes(16, "little")


def padded(bytes):
    return bytes + b"\0" * (-len(bytes) % 16)


def seal(plain, aad, nonce, key):
    """XChaCha20-Poly1305: the subkey, and the sealed bytes with their tag."""
    subkey, rest = hchacha20(key, nonce[:16]), b"\0\0\0\0" + nonce[16:]
    stream = b"".join(block(subkey, 1 + i, rest) for i in range(len(plain) // 64 + 1))
    sealed = bytes(a ^ b for a, b in zip(plain, stream))
    lengths = struct.pack("<QQ", len(aad), len(sealed))
    return subkey, sealed + poly1305(block(subkey, 0, rest)[:32], padded(aad) + padded(sealed) + lengths)


def results(f):
    """What the page says to compute, from the fields."""
    clear = bytes([1, f["key_id"], (f["match"] & 127) << 1 | f["kind"],
                   f["match"] >> 7 << 4 | f["watch"] << 3 | f["players"]])
    clear += struct.pack("<II", f["expire_s"], f["issued_s"])
    aad = b"HINDCAST-TOKEN-1" + struct.pack("<Q", f["protocol_id"]) + clear
    plain = f["token_id"] + struct.pack("<Q", f["client_id"]) + f["secret"] + struct.pack("<Q", f["audience"])
    plain += f["name"] + f["user_data"]
    subkey, sealed = seal(plain, aad, f["nonce"], f["key"])
    token = clear + f["nonce"] + sealed
    text = base64.urlsafe_b64encode(token + f["secret"]).decode()
    assert (len(plain), len(token), len(text)) == (192, 244, 368)
    return {"clear": clear, "aad": aad, "plain": plain, "subkey": subkey, "token": token, "text": text}


def written(name, value):
    """The lines of the page for a field."""
    text = "0x%016x" % value if name == "protocol_id" else value.hex() if isinstance(value, bytes) else str(value)
    parts = [text[i:i + LINE] for i in range(0, len(text), LINE)]
    return "".join("    %-12s %s\n" % ("" if i else name, part) for i, part in enumerate(parts))


def read_vectors(page):
    """The vectors of the page, each a dict of texts."""
    for section in re.findall(r"^### Vector .*?(?=^#|\Z)", page, re.S | re.M):
        vector, last = {}, None
        for name, value in re.findall(r"^    (\w*) +(\S+)$", section, re.M):
            last = name or last
            vector[last] = vector.get(last, "") + value
        yield vector


def fields_of(vector):
    return {name: bytes.fromhex(vector[name]) if name in BINARY else int(vector[name], 0) for name in FIELDS}


def bytes_from(first, size):
    return bytes((first + i) % 256 for i in range(size))


def vectors():
    """The fields of the vectors: of all kinds; none; the greatest."""
    random = {"key": bytes_from(1, 32), "nonce": bytes_from(0x41, 24), "token_id": bytes_from(0xa0, 16),
              "secret": bytes_from(0x21, 32), "kind": 0}
    yield dict(random, key_id=5, protocol_id=0x0123456789abcdef, players=2, watch=1, match=300, expire_s=2000000060,
               issued_s=2000000000, client_id=424242, audience=77, name="J\u00fcrgen".encode().ljust(32, b"\0"),
               user_data=b'{"skin":7}'.ljust(96, b"\0"))
    yield dict(random, key_id=0, protocol_id=0xfedcba9876543210, players=1, watch=0, match=0, expire_s=1,
               issued_s=0, client_id=0, audience=0, name=bytes(32), user_data=bytes(96))
    yield dict(random, key_id=255, protocol_id=2 ** 64 - 1, players=4, watch=1, match=1023, expire_s=2 ** 32 - 1,
               issued_s=2 ** 32 - 1, client_id=2 ** 64 - 1, audience=2 ** 64 - 1, name=b"x" * 32,
               user_data=b"\xff" * 96)


def print_vectors():
    for f in vectors():
        made = results(f)
        print("".join([written(n, f[n]) for n in FIELDS] + [written(n, made[n]) for n in RESULTS]))


def check(path):
    with open(path, encoding="utf-8") as file:
        found = list(read_vectors(file.read()))
    if len(found) != len(list(vectors())):
        sys.exit("%s: has %d vectors" % (path, len(found)))
    for number, vector in enumerate(found, 1):
        for name, value in results(fields_of(vector)).items():
            if vector.get(name) != (value if name == "text" else value.hex()):
                sys.exit("%s: vector %d: %s does not follow from the inputs" % (path, number, name))


def issue(key_file, protocol_id, client_id, name):
    with open(key_file, encoding="ascii") as file:
        number, digits = next(line.split() for line in file if not line.startswith("#"))
    now = int(time.time())
    fields = {"key_id": int(number), "key": bytes.fromhex(digits), "protocol_id": int(protocol_id, 0), "kind": 0,
              "players": 1, "watch": 0, "match": 0, "expire_s": now + 60, "issued_s": now, "nonce": os.urandom(24),
              "token_id": os.urandom(16), "client_id": int(client_id), "secret": os.urandom(32), "audience": 0,
              "name": name.encode().ljust(32, b"\0"), "user_data": bytes(96)}
    print(results(fields)["text"])


def main():
    commands = {"check": (check, 1), "print": (print_vectors, 0), "issue": (issue, 4)}
    run, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if run is None or len(sys.argv) != 2 + count:
        sys.exit(__doc__)
    run(*sys.argv[2:])


if __name__ == "__main__":
    main()
