#!/usr/bin/env python3
"""Known answers for proto/token, proto/seal and proto/ratchet, worked out without libsodium.

    secure_vectors.py            prints secure_vectors.h
    secure_vectors.py --check    fails unless that file is what would be printed

BLAKE2b is Python's own; ChaCha20, Poly1305, XChaCha20 and X25519 are written out here after RFC
8439, draft-irtf-cfrg-xchacha and RFC 7748, and checked with the examples of those texts before they are used.
"""
import hashlib
import struct
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

HEADER = Path(__file__).with_name("secure_vectors.h")
MASK = 0xFFFFFFFF


def rounds(state):
    """The 20 rounds, without the final addition."""
    x = list(state)

    def quarter(a, b, c, d):
        for left, added, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[left] = (x[left] + x[added]) & MASK
            mixed = x[turned] ^ x[left]
            x[turned] = (mixed << by | mixed >> (32 - by)) & MASK

    for _ in range(10):
        for column in range(4):
            quarter(column, 4 + column, 8 + column, 12 + column)
        for diagonal in range(4):
            quarter(diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4, 12 + (diagonal + 3) % 4)
    return x


def words(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def block(key, counter, nonce):
    state = words(b"expand 32-byte k") + words(key) + [counter] + words(nonce)
    return struct.pack("<16I", *((a + b) & MASK for a, b in zip(state, rounds(state))))


def hchacha20(key, nonce16):
    x = rounds(words(b"expand 32-byte k") + words(key) + words(nonce16))
    return struct.pack("<8I", *x[:4], *x[12:])


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at : at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def aead(key, nonce, aad, plain):
    """AEAD_CHACHA20_POLY1305: ciphertext, then tag."""
    sealed = bytearray()
    for at in range(0, len(plain), 64):
        stream = block(key, 1 + at // 64, nonce)
        sealed += bytes(a ^ b for a, b in zip(plain[at : at + 64], stream))

    def padded(data):
        return bytes(data) + bytes(-len(data) % 16)

    lengths = struct.pack("<QQ", len(aad), len(sealed))
    return bytes(sealed) + poly1305(block(key, 0, nonce)[:32], padded(aad) + padded(sealed) + lengths)


def xaead(key, nonce24, aad, plain):
    return aead(hchacha20(key, nonce24[:16]), bytes(4) + nonce24[16:], aad, plain)


def blake(size, key, *parts):
    return hashlib.blake2b(b"".join(parts), digest_size=size, key=key).digest()


def x25519(secret, point=(9).to_bytes(32, "little")):
    """RFC 7748, 5: the Montgomery ladder on the u coordinates."""
    p, a24 = 2**255 - 19, 121665
    k = int.from_bytes(secret, "little") & ~7 & (1 << 254) - 1 | 1 << 254
    x1 = int.from_bytes(point, "little") % (1 << 255)
    x2, z2, x3, z3 = 1, 0, x1, 1
    for t in reversed(range(255)):
        if k >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % p, b * b % p, d * a % p, c * b % p
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % p, x1 * (da - cb) ** 2 % p
        x2, z2 = aa * bb % p, e * (aa + a24 * e) % p
        if k >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, p - 2, p) % p).to_bytes(32, "little")


def check_the_ciphers():
    """RFC 8439, 2.8.2; draft-irtf-cfrg-xchacha-03, 2.2.1 and A.3.1 (the same plaintext and AAD);
    RFC 7748, 5.2."""
    out = x25519(bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
                 bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))
    assert out.hex() == "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    plain = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the "
             b"future, sunscreen would be it.")
    aad = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    key = run(0x80, 32)
    tag = aead(key, bytes.fromhex("070000004041424344454647"), aad, plain)[-16:]
    assert tag.hex() == "1ae10b594f09e26a7e902ecbd0600691"
    derived = hchacha20(run(0, 32), bytes.fromhex("000000090000004a0000000031415927"))
    assert derived.hex() == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"
    tag = xaead(key, run(0x40, 24), aad, plain)[-16:]
    assert tag.hex() == "c0875924c1c7987947deafd8780acf49"


def run(first, size):
    """`size` bytes that count up from `first`; as count_up() in the tests."""
    return bytes((first + i) & 0xFF for i in range(size))


PROTOCOL_ID, AUDIENCE, CLIENT_ID = 0x0123456789ABCDEF, 0xA1A2A3A4A5A6A7A8, 0xB1B2B3B4B5B6B7B8
EXPIRE_S, KEY_ID, CID, SEQ, PORT = 1800000000, 7, 0xC1C2C3C4, 0x01020304, 0xF1F2
TOKEN_KEY, SECRET, IP = run(0x10, 32), run(0x60, 32), run(0xD0, 16)
CLIENT_NONCE, SERVER_NONCE = run(0x80, 16), run(0x90, 16)
CLIENT_SECRET, SERVER_SECRET = run(0xA0, 32), run(0xC0, 32)


def token(kind):
    rights = 3 | (8 if kind == 0 else 0)
    head = struct.pack("<BBBBII", 1, KEY_ID, kind, rights, EXPIRE_S, EXPIRE_S - 60)
    nonce = run(0x30, 24)
    name = b"Ada".ljust(32, b"\0")
    plain = (run(0x50, 16) + struct.pack("<Q", CLIENT_ID) + SECRET + struct.pack("<Q", AUDIENCE) + name
             + run(0xE0, 96))
    aad = b"HINDCAST-TOKEN-1" + struct.pack("<Q", PROTOCOL_ID) + head
    return head + nonce + xaead(TOKEN_KEY, nonce, aad, plain)


def draws(key, count):
    """Those of proto/ratchet."""
    out = b""
    for serial in range(1, count + 1):
        both = blake(64, key, struct.pack("<Q", serial))
        out, key = out + both[:32], both[32:]
    return out


def vectors():
    connect = b"\x03" + run(1, 1183)
    deny = b"\x05" + run(1, 28)
    client_key, server_key = x25519(CLIENT_SECRET), x25519(SERVER_SECRET)
    shared = x25519(CLIENT_SECRET, server_key)
    keys = blake(64, SECRET, b"HCAST03 keys", struct.pack("<Q", PROTOCOL_ID), token(0), CLIENT_NONCE,
                 SERVER_NONCE, struct.pack("<I", CID), client_key, server_key, shared)
    continue_key = blake(32, keys, b"HCAST03 continues")
    accept = b"\x04" + run(1, 75)
    data = struct.pack("<BII", 0x40, CID, SEQ)
    reset_key = blake(32, TOKEN_KEY, b"HCAST03 reset")
    return {
        "token": token(0),
        "ticket": token(1),
        "proof": blake(16, SECRET, connect),
        "deny_mac": blake(16, SECRET, deny),
        "client_key": client_key,
        "server_key": server_key,
        "shared": shared,
        "keys": keys,
        "continue_key": continue_key,
        "continue_proof": blake(16, continue_key, b"\x03" + run(1, 333)),
        "accept": accept + aead(keys[32:], bytes(12), accept, run(0x20, 90)),
        "data": data + aead(keys[:32], bytes(8) + struct.pack("<I", SEQ), data, run(0x70, 100)),
        "draws": draws(SECRET, 3),
        "reset": blake(16, reset_key, struct.pack("<IQ", CID, AUDIENCE), IP, struct.pack("<H", PORT)),
    }


def header():
    lines = ["/// Known answers, printed by secure_vectors.py: see there for what they are made of.",
             "#pragma once", "", "#include <stdint.h>"]
    for name, value in vectors().items():
        lines += ["", f"static const uint8_t vector_{name}[{len(value)}] = {{"]
        lines += ["    " + " ".join(f"0x{b:02x}," for b in value[at : at + 16])
                  for at in range(0, len(value), 16)]
        lines += ["};"]
    text = urlsafe_b64encode(token(0) + SECRET).decode()
    lines += ["", "static const char vector_credential[] ="]
    pieces = [text[at : at + 92] for at in range(0, len(text), 92)]
    lines += [f'    "{piece}"' + (";" if piece is pieces[-1] else "") for piece in pieces]
    return "\n".join(lines) + "\n"


def main():
    check_the_ciphers()
    if sys.argv[1:] == ["--check"]:
        if HEADER.read_text(encoding="utf-8") != header():
            sys.exit(f"{HEADER.name} is not what this script prints")
    elif len(sys.argv) == 1:
        sys.stdout.write(header())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
