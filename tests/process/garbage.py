"""Sends COUNT malformed datagrams to 127.0.0.1:PORT:  garbage.py PORT COUNT SEED"""
import random
import socket
import sys
import time

port, count, seed = map(int, sys.argv[1:])
rng = random.Random(seed)
kinds = bytes([0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x40])
lengths = (0, 1, 7, 32, 33, 44, 45, 60, 1199, 1200, 1201, 1472)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for sent in range(count):
    if sent % 100 == 0:  # another source port
        sock.close()
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    length = rng.choice(lengths) if rng.random() < 0.7 else rng.randrange(1300)
    data = bytearray(rng.randbytes(length))
    if length > 0 and rng.random() < 0.8:
        data[0] = rng.choice(kinds)
    if length > 8 and rng.random() < 0.6:
        data[1:8] = b"HCAST03"
    if length > 8 and data[0] == 0x40 and rng.random() < 0.5:
        data[1:5] = rng.randrange(1, 64).to_bytes(4, "little")
    try:
        sock.sendto(data, ("127.0.0.1", port))
    except OSError:
        pass
    if sent % 20 == 0:
        time.sleep(0.001)
