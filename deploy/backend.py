#!/usr/bin/env python3
"""A small backend: issues tokens of a server's key to users who have logged in.

    python3 backend.py KEY_FILE [PORT]    then: curl -d 'user=ada' 127.0.0.1:8080/token

Replace `account` by the game's own login. The answer holds a secret: put a proxy with TLS in front, and give --proxy.
Needs python3-nacl. docs/BACKEND.md describes tokens. The backend reads the key file for each token, so that
keys rotate without a restart. A new build of the game needs a restart: it has another protocol_id. Connections,
threads, the bytes and the time of a request, the requests of an address and the lines of the log are bounded.
"""
import argparse, base64, hashlib, ipaddress, json, os, re, shutil, socket, stat, struct, subprocess, sys, threading
import time, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

AUDIENCE, LIFE_S = 0, 60
PLAYERS = 1  # rights: up to 4 local players; + 8 to watch everything too
MATCH = 0    # of a server with --matches: 1 to 1023; 0: any that has room
HEAD_MAX, BODY_MAX = 8192, 4096  # bytes of a request
ADDRESS_CONNECTIONS_MAX, ADDRESS_BURST = 32, 20
RATE_PLACES = 4096  # of the table of rates, whose memory is constant
LOG_LINES_S = 10
USERS = {"ada": 1, "grace": 2}


def account(form):
    """Returns (client_id, name) of the user that a form, a dict of texts, names, or None. Users of this example have
    no passwords."""
    user = form.get("user")
    return (USERS[user], user.encode()) if user in USERS else None


def read_key(path):
    """Returns the used key, (id, bytes): the first of at most two. The server has the same rules."""
    with open(path, errors="replace", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_uid not in (os.geteuid(), 0):
            raise ValueError("it belongs to user %d, and must be this user's" % status.st_uid)
        if status.st_mode & (0o037 if status.st_uid == 0 else 0o077):
            raise ValueError("others may use it (mode %03o): chmod 600 it" % (status.st_mode & 0o777))
        lines = [line.split() for line in file]
    keys = [line for line in lines if line and not line[0].startswith("#")]
    for line in keys:
        if not re.fullmatch("0*[0-9]{1,3} [0-9a-fA-F]{64}", " ".join(line)) or int(line[0]) > 255:
            raise ValueError("each key must be a number in [0, 255] and 64 hexadecimal digits")
    keys = [(int(number), bytes.fromhex(digits)) for number, digits in keys]
    if not 1 <= len(keys) <= 2 or len({number for number, _ in keys}) < len(keys):
        raise ValueError("it must hold one or two keys of different numbers")
    return keys[0]


def read_protocol_id(program, game):
    """Returns the output of `hindcastd protocol-id`, of the given or found program, for a plugin or None."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/release/bin/hindcastd")
    program = program or (beside if os.path.exists(beside) else shutil.which("hindcastd"))
    if program is None:
        raise ValueError("hindcastd is not found: build it, or name it by --hindcastd FILE")
    try:
        command = [program, "protocol-id"] + (["--game", game] if game is not None else [])
        run = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, text=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError("%s cannot be run: %s" % (program, error))
    if run.returncode != 0 or not re.fullmatch("0x[0-9a-f]{16}\n", run.stdout):
        raise ValueError("%s prints no protocol_id" % program)
    return int(run.stdout, 16)


def token(key, protocol_id, client_id, name, user_data=b""):
    """Returns the text for a user: a token and its secret. docs/BACKEND.md has the bytes."""
    if len(name) > 32 or len(user_data) > 96:
        raise ValueError("a name has at most 32 bytes, and user data 96")
    now = int(time.time())
    head = struct.pack("<BBBBII", 1, key[0], (MATCH & 127) << 1, PLAYERS | MATCH >> 7 << 4, now + LIFE_S, now)
    nonce, secret = os.urandom(24), os.urandom(32)
    plain = struct.pack("<16sQ32sQ32s96s", os.urandom(16), client_id, secret, AUDIENCE, name, user_data)
    sealed = encrypt(plain, b"HINDCAST-TOKEN-1" + struct.pack("<Q", protocol_id) + head, nonce, key[1])
    return base64.urlsafe_b64encode(head + nonce + sealed + secret).rstrip(b"=").decode()


def network(address):
    """Returns the part of an IP address that one user may be taken to have: of IPv6 the /64."""
    address = ipaddress.ip_address(address)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).packed[:8]


class Rates:
    """Bounds events of each key to `rate` a second and `burst` at once, in constant memory. Keys share places, by two
    hashes that nobody else knows. An event needs one place that has room: so a flood keeps out hardly any other key."""
    def __init__(self, rate, burst):
        self.interval, self.ahead, self.secret = 1 / rate, burst / rate, os.urandom(16)
        self.lock, self.tables = threading.Lock(), [[0.0] * RATE_PLACES, [0.0] * RATE_PLACES]

    def take(self, key):
        """Whether an event of the key is within the bound now; if so it counts."""
        now, digest = time.monotonic(), hashlib.blake2b(key, key=self.secret, digest_size=4).digest()
        places = [part % RATE_PLACES for part in struct.unpack("<HH", digest)]
        with self.lock:
            times = [max(table[place], now) for table, place in zip(self.tables, places)]
            if min(times) + self.interval > now + self.ahead:
                return False
            for table, place, before in zip(self.tables, places, times):
                table[place] = min(before + self.interval, now + self.ahead)
        return True


class Head:
    """The lines of a request up to its body, HEAD_MAX bytes at most."""
    def __init__(self, file):
        self.file, self.left, self.too_long = file, HEAD_MAX, False

    def readline(self, size=HEAD_MAX):
        line = self.file.readline(min(size, self.left + 1))
        self.left -= len(line)
        self.too_long |= self.left < 0
        return b"" if self.too_long else line

    def close(self):
        self.file.close()


class Refusal(Exception):
    """The status and the sentence with which a request is answered."""


def read_form(kind, body):
    """Returns the dict of texts that a body holds, a form or a JSON object."""
    try:
        if kind == "application/json":
            form = json.loads(body.decode())
            good = isinstance(form, dict) and all(isinstance(value, str) for value in form.values())
            if not form or not good:
                raise ValueError
            return form
        form = dict(parse_qsl(body.decode("ascii"), strict_parsing=True, errors="strict"))
        if not form:
            raise ValueError
        return form
    except (ValueError, RecursionError):
        raise Refusal(400, "The body must be a form, such as user=ada, or a JSON object of texts.")


class Handler(BaseHTTPRequestHandler):
    default_request_version = "HTTP/1.0"  # each answer has a status

    def setup(self):
        self.timeout = 2 * self.server.options.timeout  # of each call; reading ends earlier (Server)
        super().setup()
        self.body, self.rfile = self.rfile, Head(self.rfile)

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            return  # the client has gone
        if self.rfile.too_long and self.raw_requestline == b"":
            self.requestline, self.command, self.request_version = "", None, "HTTP/1.0"
            self.answer(414, "The request's first line is too long.")

    def parse_request(self):
        good = super().parse_request()
        if good and self.rfile.too_long:
            self.answer(431, "The request's headers are longer than %d bytes." % HEAD_MAX)
        return good and not self.rfile.too_long

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        if status == 405:
            self.send_header("Allow", "POST")
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode() + b"\n")

    def send_error(self, code, message=None, explain=None):  # called by http.server for its own errors
        self.answer(code, "%s." % (message or self.responses[code][1]))

    def version_string(self):
        return "backend"

    def log_message(self, format, *arguments):
        if self.server.log_rates.take(b""):
            super().log_message(format, *arguments)

    def client(self):
        """Returns the network of the client's address; a proxy adds it at the end of X-Forwarded-For."""
        if not self.server.options.proxy:
            return network(self.client_address[0])
        try:
            return network(self.headers.get_all("X-Forwarded-For", [""])[-1].rsplit(",", 1)[-1].strip())
        except ValueError:
            raise Refusal(400, "The proxy must name the client's address at the end of X-Forwarded-For.")

    def read_body(self):
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers:
            raise Refusal(501, "The body must come as a whole, with its Content-Length.")
        if not lengths:
            raise Refusal(411, "The Content-Length is missing.")
        if len(lengths) > 1 or not re.fullmatch("[0-9]{1,18}", lengths[0]):
            raise Refusal(400, "The Content-Length is no number.")
        size = int(lengths[0])
        try:
            body = self.body.read(min(size, BODY_MAX))
        except TimeoutError:
            body = b""
        if size > BODY_MAX:
            raise Refusal(413, "The body is longer than %d bytes." % BODY_MAX)
        if len(body) < size:
            expired = self.server.has_expired(self.connection)
            raise Refusal(408 if expired else 400, "The body is shorter than its Content-Length.")
        return body

    def issue(self):
        """Returns the text of a token for the user of this request."""
        body = self.read_body()
        if self.path != "/token":
            raise Refusal(404, "There is only /token here.")
        if not self.server.rates.take(self.client()):
            raise Refusal(429, "Too many requests come from this address.")
        form = read_form(self.headers.get_content_type(), body)
        try:
            user = account(form)
        except Exception:
            traceback.print_exc()
            raise Refusal(500, "The login failed.")
        if user is None:
            raise Refusal(403, "The user is unknown.")
        try:
            key = read_key(self.server.options.key_file)
        except (OSError, ValueError) as error:
            self.log_message("key file '%s': %s", self.server.options.key_file, error)
            raise Refusal(503, "The key file cannot be used now.")
        return token(key, self.server.protocol_id, *user)

    def do_POST(self):
        try:
            self.answer(200, self.issue())
        except Refusal as refusal:
            self.answer(*refusal.args)

    def refuse(self):
        known = self.path == "/token"
        self.answer(405 if known else 404, "Request a token by POST." if known else "There is only /token here.")

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse


class Server(ThreadingHTTPServer):
    """A thread for each connection. Reading from it ends after the timeout, also for slow clients. One connection
    more than are allowed, of its address or of all, ends the reading of the oldest one; threads that answer may be as
    many again. Beyond these a connection is closed."""
    request_queue_size = 128

    def __init__(self, options):
        self.options, self.protocol_id = options, None
        self.rates, self.log_rates = Rates(options.rate, ADDRESS_BURST), Rates(LOG_LINES_S, LOG_LINES_S)
        # By connection, oldest first: its network, and when reading ends; 0: it has ended.
        self.lock, self.ends = threading.Lock(), {}
        super().__init__(("127.0.0.1", options.port), Handler)

    def process_request(self, request, client_address):
        place = network(client_address[0])
        with self.lock:
            full = len(self.ends) >= 2 * self.options.connections
            if not full:
                reads = [connection for connection, (_, end) in self.ends.items() if end > 0]
                own = [connection for connection in reads if self.ends[connection][0] == place]
                if not self.options.proxy and len(own) >= ADDRESS_CONNECTIONS_MAX:
                    self.expire(own[0])
                elif len(reads) >= self.options.connections:
                    self.expire(reads[0])
                self.ends[request] = place, time.monotonic() + self.options.timeout
        if full:
            return self.shutdown_request(request)
        super().process_request(request, client_address)

    def service_actions(self):  # called twice a second
        with self.lock:
            for connection, (_, end) in self.ends.items():
                if 0 < end <= time.monotonic():
                    self.expire(connection)

    def expire(self, connection):
        self.ends[connection] = self.ends[connection][0], 0
        try:
            connection.shutdown(socket.SHUT_RD)
        except OSError:
            pass  # the client has closed it

    def has_expired(self, connection):
        return self.ends[connection][1] == 0

    def shutdown_request(self, request):
        with self.lock:
            self.ends.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        if self.log_rates.take(b""):
            super().handle_error(request, client_address)


def load_cipher():
    """Imports nacl after the arguments are parsed, so that --help needs no package."""
    global encrypt
    try:
        from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt
    except ImportError:
        sys.exit("backend.py: the Python package nacl is needed: python3-nacl on Debian")


def number(least, most):
    """The type of an argument that must be a number from `least` to `most`."""
    def parse(text):
        if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError("'%s': must be in [%d, %d]" % (text, least, most))
        return int(text)
    return parse


def main():
    parser = argparse.ArgumentParser(
        description="Issues tokens of a server's key to users. Replace `account` by the game's own login.",
        epilog="Then: curl -d user=ada http://127.0.0.1:8080/token. This example knows the users %s." % ", ".join(USERS))
    parser.add_argument("key_file", metavar="KEY_FILE", help="made by hindcastd key")
    parser.add_argument("port", metavar="PORT", nargs="?", type=number(0, 65535), default=8080, help="default 8080; "
                        "0: any")
    parser.add_argument("--hindcastd", metavar="FILE", help="the program that prints the protocol-id (default: "
                        "../build/release/bin/hindcastd, or else by PATH)")
    parser.add_argument("--game", metavar="FILE", help="the server's --game (default: the arena)")
    parser.add_argument("--rate", metavar="N", type=number(1, 10000), default=10, help="requests of an address in a "
                        "second; %d may come at once (default 10)" % ADDRESS_BURST)
    parser.add_argument("--connections", metavar="N", type=number(1, 4096), default=256, help="connections at once; one "
                        "more ends the oldest (default 256), as beyond %d of an address" % ADDRESS_CONNECTIONS_MAX)
    parser.add_argument("--timeout", metavar="S", type=number(1, 60), default=5, help="seconds until a request must have "
                        "come (default 5)")
    parser.add_argument("--proxy", action="store_true", help="take the client's address from the end of "
                        "X-Forwarded-For: only behind a proxy that adds it")
    options = parser.parse_args()
    load_cipher()
    try:
        read_key(options.key_file)
    except (OSError, ValueError) as error:
        sys.exit("backend.py: key file '%s': %s" % (options.key_file, getattr(error, "strerror", None) or error))
    try:
        protocol_id = read_protocol_id(options.hindcastd, options.game)
        server = Server(options)
    except OSError as error:
        sys.exit("backend.py: port %d: %s" % (options.port, error.strerror or error))
    except ValueError as error:
        sys.exit("backend.py: %s" % error)
    server.protocol_id = protocol_id
    print("listening on 127.0.0.1:%d; try: curl -d user=ada http://127.0.0.1:%d/token"
          % (server.server_port, server.server_port), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
