#!/usr/bin/env python3
"""Checks a picture: picture.py FILE.png EXPRESSION... They may use width, height, at(x, y), a colour as "rrggbb", and
count(colour, left=0, right=1), the pixels of a colour between two parts of the width."""
import struct
import sys
import zlib


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        yield kind, body
        at += 12 + size


def unfilter(method, line, above):
    """Undoes a row's filter in place."""
    for i in range(len(line) if method else 0):
        left, corner = (line[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        up = above[i]
        if method == 1:
            near = left
        elif method == 2:
            near = up
        elif method == 3:
            near = (left + up) // 2
        else:
            a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            near = left if a <= b and a <= c else up if b <= c else corner
        line[i] = (line[i] + near) & 255


def decode(path):
    """Width, height and rows of RGB bytes."""
    with open(path, "rb") as file:
        parts = list(chunks(file.read()))
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", dict(parts)[b"IHDR"])
    assert (depth, colour, interlace) == (8, 2, 0), "not plain RGB"
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    size, rows = 3 * width + 1, [bytes(3 * width)]
    for y in range(height):
        line = bytearray(raw[y * size + 1:(y + 1) * size])
        unfilter(raw[y * size], line, rows[-1])
        rows.append(line)
    return width, height, rows[1:]


width, height, rows = decode(sys.argv[1])


def at(x, y):
    return rows[y][3 * x:3 * x + 3].hex()


def count(colour, left=0.0, right=1.0):
    wanted, columns = bytes.fromhex(colour), range(3 * int(left * width), 3 * int(right * width), 3)
    return sum(row[i:i + 3] == wanted for row in rows if wanted in row for i in columns)


for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit(f"{sys.argv[1]}: not so: {expression}")
