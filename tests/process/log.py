"""Makes clients cause as many log lines as they can, and checks the server and its log.

    log.py DIRECTORY_OF_PROGRAMS WORK unread|closed|read

unread: the server's standard error is a full pipe that nothing reads.
closed: the pipe has no reader.
read:   a thread reads it.
"""
import fcntl, json, os, signal, subprocess, sys, threading, urllib.request
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../conformance"))
from hcast import *
from documents import ARENA

programs, work, case = sys.argv[1:4]
CLIENTS, LONGEST_S = 600, 10
failed = False


def check(text, condition, why=""):
    global failed
    failed |= not condition
    print("%-7s %s: %s%s" % ("ok" if condition else "FAILED", case, text, "" if condition else "  " + str(why)),
          flush=True)


def start(program, *options, **more):
    return subprocess.Popen([os.path.join(programs, program), *options], **more)


def finish(process):
    """Waits until it ends and returns its exit status; None: it had to be killed."""
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


class Crowd:
    """CLIENTS clients of different users that connect and leave, one after the other."""

    def __init__(self, port):
        self.port = port
        ask = urllib.request.Request("http://127.0.0.1:%d/token?count=%d" % (port, CLIENTS), b"")
        texts = urllib.request.urlopen(ask, timeout=LONGEST_S).read().split()
        self.tokens = [token_from_text(text) for text in texts]
        self.joined = 0

    def join_and_leave(self, token):
        c = Client(("127.0.0.1", self.port), ARENA.protocol_id, *token, None, 1, 0)
        c.connect()
        for _ in range(3):
            c.send([CLOSE, 1])
        c.sock.close()
        self.joined += 1


def attack(port):
    crowd = Crowd(port)
    for token in crowd.tokens:
        try:
            crowd.join_and_leave(token)
        except (Denied, Malformed):
            break
    return crowd


def read_lines(pipe, lines):
    for line in pipe:
        lines.append(line)


def serve():
    """Starts a server with the standard error of the case. Returns its process, its port, its lines and their reader."""
    reading, writing = os.pipe()
    lines = []
    reader = None
    if case == "unread":
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writing, bytes(4096))
    server = start("hindcastd", "--dev", "--bind=127.0.0.1", "--port=0", "--log-format=json",
                   "--json=" + os.path.join(work, "server.json"), stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    if case == "read":
        reader = threading.Thread(target=read_lines, args=(os.fdopen(reading, "rb"), lines))
        reader.start()
    port = int(server.stdout.readline().rsplit(b":", 1)[1])
    if case == "closed":
        os.close(reading)
    return server, port, lines, reader


def check_server(server, crowd, bot):
    check("%d clients have joined and left" % CLIENTS, crowd is not None and crowd.joined == CLIENTS)
    check("the bot ends", finish(bot) in (0, 1))       # 1: its report says that ticks were late
    server.send_signal(signal.SIGTERM)
    check("the server ends", finish(server) in (0, 1))
    theirs, ours = report("server.json"), report("bot.json")
    if not theirs or not ours:
        check("both have written their reports", False)
        return
    due = theirs["duration_ms"] * theirs["tick_rate_hz"] / 1000
    # A server that waits for its reader simulates no tick; a busy machine skips a few.
    check("the server's ticks go on", theirs["ticks"] >= 0.5 * due, (theirs["ticks"], due))
    check("the bot is sent snapshots of them", ours["client"]["snapshots"] >= 0.5 * ours["ticks"] > 50,
          (ours["client"]["snapshots"], ours["ticks"]))


def check_lines(lines, crowd):
    events = [json.loads(line) for line in lines]
    seconds = report("server.json")["duration_ms"] / 1000
    printed = lambda kind: sum(e["event"] == kind for e in events)
    suppressed = lambda kind: sum(e["count"] for e in events if e["event"] == "log-suppressed" and e["kind"] == kind)
    print("        %d lines, %d bytes in %.1f s for %d clients" % (len(lines), sum(map(len, lines)), seconds, crowd.joined))
    for kind in ("joined", "left"):
        check("at most 256 %s, and 4 more a second" % kind, printed(kind) <= 256 + 1 + 4 * seconds, printed(kind))
        check("each %s is a line or counted" % kind, printed(kind) + suppressed(kind) == 1 + crowd.joined,
              (printed(kind), suppressed(kind)))                # and the bot
    check("each suppressed kind is counted at most every 10 s", printed("log-suppressed") <= 6 * (2 + seconds / 10))
    check("start and stop are logged", printed("started") == 1 and printed("stopping") == 1)
    check("a line has at most 600 bytes, but for that with the settings",
          all(len(line) <= 600 for line, event in zip(lines, events) if event["event"] != "started"))


server, port, lines, reader = serve()
bot = start("hindcast-bot", "--duration=3", "--connect=127.0.0.1:%d" % port, "--json=" + os.path.join(work, "bot.json"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
crowd = None
try:
    crowd = attack(port)
except (Malformed, Denied, OSError) as e:
    check("the clients are served", False, e)
check_server(server, crowd, bot)
if case == "read" and crowd:
    reader.join()                                               # the pipe ends with the server
    check_lines(lines, crowd)
sys.exit(failed)
