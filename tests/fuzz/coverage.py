#!/usr/bin/env python3
"""Judges which lines of the parsing files were reached: python3 tests/fuzz/coverage.py LCOV_FILE"""
import glob
import os
import re
import sys

LEAST = 0.95
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))

# All of proto/ reads what comes from a peer; of the other rooms, these do.
PARSING = ("proto/*.c", "common/bits.c", "common/bytes.c",
           "client/world/snapshot_reader.c", "client/world/baselines.c", "client/world/world.c",
           "client/link/handshake.c", "client/link/link.c",
           "server/handshake.c", "server/receive.c", "server/path.c", "server/address_limit.c", "server/spent_tokens.c")
NOT_BYTES = ("proto/flight.c",)  # It reads times and sizes, which tests/unit/test_proto_flight.c and storm vary.

# Functions that no input can reach: file, name, why. They do not count, and must not be reached.
UNREACHABLE = [
    ("proto/unpack.c", name, "the pre-check refuses such a value; the parser's template wants the function")
    for name in ("take_float", "take_double", "take_ext", "take_map", "take_map_item")
]

# Functions that read nothing of a peer's: file, name, why. They do not count.
NOT_PARSING = [
    (file, name, "it reads nothing of a peer's: it writes, or makes text")
    for file, name in (("proto/compare.c", "put_entity"), ("proto/compare.c", "hc_differs_put"),
                       ("proto/compare.c", "hc_difference_text"), ("proto/message.c", "put_desync"),
                       ("proto/message.c", "hc_close_text"), ("proto/notice.c", "hc_notice_line"),
                       ("proto/notice.c", "size_of"), ("proto/notice.c", "hc_notice_check"),
                       ("proto/notice.c", "put_text"), ("proto/notice.c", "hc_notice_put"),
                       ("proto/connection.c", "hc_connection_farewell"), ("proto/seal.c", "hc_seal_farewell"))
] + [
    ("server/spent_tokens.c", "hc_sv_spent_void", "the server's owner or its game ends a session"),
    ("client/link/link.c", "hc_cl_link_room", "it says how much is sent, by what is in flight"),
    ("client/world/world.c", "hc_cl_world_choose_display", "the client's game chooses what is shown"),
    ("client/world/snapshot_reader.c", "hc_cl_snapshot_reader_compare", "it compares a value that was read already"),
]


def read_counts(path):
    """{file: {line: how often}} of an lcov file."""
    counts, file = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("SF:"):
                file = os.path.relpath(line[3:].strip(), ROOT)
            elif line.startswith("DA:"):
                number, count = line[3:].split(",")[:2]
                lines_of = counts.setdefault(file, {})
                lines_of[int(number)] = max(int(count), lines_of.get(int(number), 0))
    return counts


def lines_of(file, name):
    """The numbers of the lines of a function, from its name to the brace that closes it."""
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        text = source.read().split("\n")
    begin = next(i for i, line in enumerate(text) if re.match(rf"(static|[a-z]).*\b{name}\(", line))
    return range(begin + 1, text.index("}", begin) + 2)


def spans(numbers):
    """Numbers as text, those in a row as one span."""
    parts = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main():
    counts, failed = read_counts(sys.argv[1]), False
    print("lines  reached  share  file, and the lines that are not reached")
    files = {os.path.relpath(path, ROOT) for pattern in PARSING for path in glob.glob(os.path.join(ROOT, pattern))}
    for file in sorted(files - set(NOT_BYTES)):
        lines = dict(counts.get(file, {}))
        for _, name, why in (entry for entry in UNREACHABLE + NOT_PARSING if entry[0] == file):
            for number in lines_of(file, name):
                if lines.pop(number, 0) > 0 and (file, name, why) in UNREACHABLE:
                    print(f"{file}:{number}: {name} was reached, though {why}")
                    failed = True
        missed = [number for number, count in lines.items() if count == 0]
        share = (len(lines) - len(missed)) / len(lines) if lines else 0
        low = share < LEAST
        failed |= low
        print(f"{len(lines):5}  {len(lines) - len(missed):7}  {100 * share:4.0f}%  {file} {spans(missed)}"
              f"{'  FAILED: too few' if low else ''}".rstrip())
    for file, name, why in UNREACHABLE + NOT_PARSING:
        print(f"not counted: {name} of {file}: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
