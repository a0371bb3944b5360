"""Makes a server log as fast as one client can, and checks what becomes of the server and of its log.

    log.py DIRECTORY_OF_PROGRAMS WORK unread|closed|read

unread: nobody reads the server's standard error, a pipe that is full.
closed: that pipe has no reader any more.
read:   somebody reads it.
"""
import fcntl, itertools, json, os, signal, subprocess, sys, threading, urllib.request
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../conformance"))
from hcast import *
from documents import ARENA

programs, work, case = sys.argv[1:4]
MOVES, CONNECTS, LONGEST_S = 200, 40, 10
failed = False


def check(what, condition, why=""):
    global failed
    failed |= not condition
    print("%-7s %s: %s%s" % ("ok" if condition else "FAILED", case, what, "" if condition else "  " + str(why)),
          flush=True)


def start(program, *options, **more):
    return subprocess.Popen([os.path.join(programs, program), *options], **more)


def finish(process):
    """Waits for its end; its exit status, None when it had to be killed."""
    try:
        return process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def report(name):
    try:
        return json.load(open(os.path.join(work, name)))
    except (OSError, ValueError):
        return None


class Alternating:
    """A client that sends from two ports in turn, and connects again and again."""

    def __init__(self, port):
        self.port = port
        ask = urllib.request.Request("http://127.0.0.1:%d/token" % port, b"")
        self.token = token_from_text(urllib.request.urlopen(ask, timeout=LONGEST_S).read())
        self.moves = self.connects = 0
        self.client = None
        self.connect(0)
        self.other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.other.connect(self.client.server)
        self.other.setblocking(False)

    def connect(self, continues):
        token = self.client.ticket if self.client and self.client.ticket else self.token
        c = Client(("127.0.0.1", self.port), ARENA.protocol_id, *token, None, 0, continues)
        c.connect()
        c.ticket = token
        self.client, self.connects = c, self.connects + 1

    def ticket(self):
        """Waits for the ticket of this connection, with which it comes back."""
        end = time.monotonic() + LONGEST_S
        while time.monotonic() < end and self.client.ticket == self.token:
            self.client.send(body=b"")
            self.client.poll(0.02)

    def move(self):
        """Goes on from the other port, until the server has taken that."""
        c = self.client
        c.messages.clear()
        end = time.monotonic() + LONGEST_S
        for tries in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
            if tries % 8 == 0:  # again later, should the last answer have been dropped
                c.sock, self.other = self.other, c.sock
            c.send(body=b"")
            c.poll(0.02)
            if any(m[0] == CHALLENGE for m in c.messages):
                self.moves += 1
                return True
        return False


def attack(port):
    attacker = Alternating(port)
    while attacker.moves < MOVES and attacker.move():
        pass
    attacker.ticket()
    while attacker.connects < CONNECTS:
        try:
            attacker.connect(attacker.client.cid)
        except (Denied, Malformed):
            break
    return attacker


def read_lines(pipe, lines):
    for line in pipe:
        lines.append(line)


def serve():
    """A server, its standard error as the case has it; the process, its port, and the lines read."""
    reading, writing = os.pipe()
    lines = []
    if case == "unread":
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writing, bytes(4096))
    server = start("hindcastd", "--dev", "--bind=127.0.0.1", "--port=0", "--log-format=json",
                   "--json=" + os.path.join(work, "server.json"), stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    if case == "read":
        threading.Thread(target=read_lines, args=(os.fdopen(reading, "rb"), lines)).start()
    port = int(server.stdout.readline().rsplit(b":", 1)[1])
    if case == "closed":
        os.close(reading)
    return server, port, lines


def check_server(server, attacker, bot):
    check("the client has moved %d times" % MOVES, attacker is not None and attacker.moves == MOVES)
    check("the bot ends", finish(bot) in (0, 1))       # 1: its report names what was late
    server.send_signal(signal.SIGTERM)
    check("the server ends", finish(server) in (0, 1))
    theirs, ours = report("server.json"), report("bot.json")
    if not theirs or not ours:
        check("both have written their reports", False)
        return
    due = theirs["duration_ms"] * theirs["tick_rate_hz"] / 1000
    # A server that waits for its reader simulates none; a busy machine leaves few ticks out.
    check("the server's ticks go on", theirs["ticks"] >= 0.5 * due, (theirs["ticks"], due))
    check("the bot is sent snapshots of them", ours["client"]["snapshots"] >= 0.5 * ours["ticks"] > 50,
          (ours["client"]["snapshots"], ours["ticks"]))


def check_lines(lines, attacker):
    events = [json.loads(line) for line in lines]
    seconds = report("server.json")["duration_ms"] / 1000
    printed = lambda kind: sum(e["event"] == kind for e in events)
    # Two clients: the bot joins and leaves once.
    counts = {kind: printed(kind) for kind in ("moved", "joined", "left", "lost", "resumed", "timeout")}
    left_out = lambda kind: sum(e["count"] for e in events if e["event"] == "log-suppressed" and e["kind"] == kind)
    print("        %d lines, %d bytes in %.1f s for %d moves and %d connections" % (
        len(lines), sum(map(len, lines)), seconds, attacker.moves, attacker.connects))
    check("at most 8 lines of each kind, and 3 more a minute",
          all(n <= 2 + 8 + 1 + seconds / 20 for n in counts.values()), counts)
    check("every move is a line or counted",
          0.9 * attacker.moves <= printed("moved") + left_out("moved") <= attacker.moves,
          (printed("moved"), left_out("moved"), attacker.moves))
    check("each kind that was left out is named at most every 10 s", printed("log-suppressed") <= 6 * (2 + seconds / 10))
    check("start and stop are there", printed("started") == 1 and printed("stopping") == 1)
    check("it is at most 600 bytes a line", all(len(line) <= 600 for line in lines))


server, port, lines = serve()
bot = start("hindcast-bot", "--duration=3", "--connect=127.0.0.1:%d" % port, "--json=" + os.path.join(work, "bot.json"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
attacker = None
try:
    attacker = attack(port)
except (Malformed, Denied, OSError) as e:
    check("the client is served", False, e)
check_server(server, attacker, bot)
if case == "read" and attacker:
    check_lines(lines, attacker)
sys.exit(failed)
