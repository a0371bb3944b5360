"""query.py TEST PORT: asks the query port of a server as nobody should, and as a browser does."""
import os, random, socket, struct, sys, time

PORT = ("127.0.0.1", int(sys.argv[2]))
HEAD = b"\xff\xff\xff\xff"
INFO, PLAYERS, RULES = b"TSource Engine Query\0", b"U", b"V"
LIMIT = 60


def open_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s


def receive(s, seconds):
    """The datagrams that come within a time."""
    got, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            got.append(s.recv(4096))
        except BlockingIOError:
            time.sleep(0.002)
    return got


def challenge_of(s):
    """Asks until a challenge comes."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        s.sendto(HEAD + INFO, PORT)
        for d in receive(s, 0.3):
            if d[:5] == HEAD + b"A" and len(d) == 9:
                return d[5:]
    raise SystemExit("no challenge comes")


def answered(s, request, kind):
    """Whether a request is answered, asked several times."""
    for _ in range(20):
        s.sendto(HEAD + request, PORT)
        if any(d[:5] == HEAD + kind or d[:4] == b"\xfe\xff\xff\xff" for d in receive(s, 0.3)):
            return True
    return False


def hostile():
    """No request gets more bytes than it has, whether its address has proved itself or not."""
    rng = random.Random(1)
    requests = [b"", b"\xff", HEAD, HEAD + b"T", HEAD + INFO[:-1], HEAD + INFO, HEAD + INFO + b"\0\0\0", HEAD + INFO + bytes(5),
                HEAD + PLAYERS, HEAD + PLAYERS + b"\xff" * 4, HEAD + PLAYERS + bytes(4), HEAD + RULES + b"\xff" * 3,
                HEAD + RULES + b"\xff" * 4, HEAD + b"W", HEAD + b"W" + b"\xff" * 4, HEAD + b"i", HEAD + bytes(1200),
                b"\xfe\xff\xff\xff" + INFO, os.urandom(1400), HEAD + PLAYERS + os.urandom(60)]
    requests += [HEAD + rng.choice((INFO, PLAYERS, RULES)) + os.urandom(rng.randrange(12)) for _ in range(15)]
    for request in requests:
        s = open_socket()
        s.sendto(request, PORT)
        got = receive(s, 0.03)
        assert sum(map(len, got)) <= len(request) and len(got) <= 1, (request[:40], got)
        s.close()
    s = open_socket()
    assert answered(s, INFO + challenge_of(s), b"I"), "the browser is not answered"


def challenge():
    one, other = open_socket(), open_socket()
    of_one = challenge_of(one)
    assert challenge_of(other) != of_one
    other.sendto(HEAD + INFO + of_one, PORT)
    got = receive(other, 0.3)
    assert all(d[:5] == HEAD + b"A" for d in got), got
    assert answered(one, RULES + of_one, b"E")
    assert answered(one, PLAYERS + of_one, b"D")


def flood():
    s = open_socket()
    mine = challenge_of(s)
    begin, sent, got = time.monotonic(), 0, 0
    while time.monotonic() < begin + 1:
        for _ in range(200):
            s.sendto(HEAD + INFO + mine, PORT)
            sent += 1
        got += len(receive(s, 0.002))
    got += len(receive(s, 0.5))
    lasted = time.monotonic() - begin
    assert sent > 1000, sent
    assert 1 <= got <= 20 * lasted + 21, (sent, got, lasted)


{"hostile": hostile, "challenge": challenge, "flood": flood}[sys.argv[1]]()
