#!/usr/bin/env python3
"""A small backend: issues tokens of a server's key to users who have logged in.

    python3 backend.py KEY_FILE [PORT]    then: curl -d 'user=ada' 127.0.0.1:8080/token

Replace `account` by the game's own login. The answer holds a secret: put TLS in front. Needs
python3-nacl. proto/PROTOCOL.md describes tokens. The backend reads the key file for each token, so that
keys rotate without a restart. A new build of the game needs a restart: it has another protocol_id.
"""
import argparse, base64, os, re, shutil, socket, stat, struct, subprocess, sys, threading, time, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

AUDIENCE, LIFE_S = 0, 60
PLAYERS = 1  # rights: up to 4 local players; + 8 to watch everything too
MATCH = 0    # of a server with --matches: 1 to 1023; 0: any that has room
HEAD_MAX, BODY_MAX = 8192, 4096  # bytes of a request
CONNECTIONS_MAX, TIMEOUT_S = 256, 5
USERS = {"ada": 1, "grace": 2}


def account(form):  # returns (client_id, name) of a user, or None; this example has no passwords
    user = form.get("user", [""])[0]
    return (USERS[user], user.encode()) if user in USERS else None


def read_key(path):
    """Returns the used key, (id, bytes): the first of at most two. The server has the same rules."""
    with open(path, errors="replace", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_uid not in (os.geteuid(), 0):
            raise ValueError("it belongs to user %d, and must be this user's" % status.st_uid)
        if status.st_mode & 0o077:
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
        run = subprocess.run(command, stdout=subprocess.PIPE, timeout=TIMEOUT_S, text=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError("%s cannot be run: %s" % (program, error))
    if run.returncode != 0 or not re.fullmatch("0x[0-9a-f]{16}\n", run.stdout):
        raise ValueError("%s prints no protocol_id" % program)
    return int(run.stdout, 16)


def token(key, protocol_id, client_id, name):
    now = int(time.time())
    head = struct.pack("<BBBBII", 1, key[0], (MATCH & 127) << 1, PLAYERS | MATCH >> 7 << 4, now + LIFE_S, now)
    nonce, secret = os.urandom(24), os.urandom(32)
    plain = struct.pack("<16sQ32sQ32s96x", os.urandom(16), client_id, secret, AUDIENCE, name)
    sealed = encrypt(plain, b"HINDCAST-TOKEN-1" + struct.pack("<Q", protocol_id) + head, nonce, key[1])
    return base64.urlsafe_b64encode(head + nonce + sealed + secret).rstrip(b"=").decode()


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


class Handler(BaseHTTPRequestHandler):
    default_request_version = "HTTP/1.0"  # each answer has a status

    def setup(self):
        super().setup()
        self.body, self.rfile = self.rfile, Head(self.rfile)

    def handle_one_request(self):
        super().handle_one_request()
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
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode() + b"\n")

    def send_error(self, code, message=None, explain=None):  # called by http.server for its own errors
        self.answer(code, "%s." % (message or self.responses[code][1]))

    def do_POST(self):
        length = self.headers.get("Content-Length")
        size = int(length) if re.fullmatch("[0-9]{1,18}", length or "") else None
        body = self.body.read(min(size or 0, BODY_MAX))
        if self.path != "/token":
            return self.answer(404, "There is only /token here.")
        if length is None:
            return self.answer(411, "The Content-Length is missing.")
        if size is None:
            return self.answer(400, "The Content-Length is no number.")
        if size > BODY_MAX:
            return self.answer(413, "The body is longer than %d bytes." % BODY_MAX)
        if len(body) < size:
            return self.answer(408 if self.server.has_expired(self.connection) else 400, "The body is shorter than its Content-Length.")
        try:
            form = parse_qs(body.decode("ascii"), strict_parsing=True, errors="strict")
        except ValueError:
            form = None
        if not form:
            return self.answer(400, "The body must be a form, such as user=ada.")
        try:
            user = account(form)
        except Exception:
            traceback.print_exc()
            return self.answer(500, "The login failed.")
        if user is None:
            return self.answer(403, "The user is unknown.")
        try:
            key = read_key(self.server.key_file)
        except (OSError, ValueError) as error:
            self.log_message("key file '%s': %s", self.server.key_file, error)
            return self.answer(503, "The key file cannot be used now.")
        self.answer(200, token(key, self.server.protocol_id, *user))

    def refuse(self):
        known = self.path == "/token"
        self.answer(405 if known else 404, "Request a token by POST." if known else "There is only /token here.")

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse


class Server(ThreadingHTTPServer):
    """A thread for each connection. Reading from it ends after TIMEOUT_S, also for slow clients, or when
    CONNECTIONS_MAX newer ones have come."""
    request_queue_size = 128

    def __init__(self, *arguments):
        self.lock, self.ends = threading.Lock(), {}  # by connection, oldest first: when reading ends, 0: it has
        super().__init__(*arguments)

    def process_request(self, request, client_address):
        with self.lock:
            self.ends[request] = time.monotonic() + TIMEOUT_S
            reads = [connection for connection, end in self.ends.items() if end > 0]
            if len(reads) > CONNECTIONS_MAX:
                self.expire(reads[0])
        super().process_request(request, client_address)

    def service_actions(self):  # called twice a second
        with self.lock:
            for connection, end in self.ends.items():
                if 0 < end <= time.monotonic():
                    self.expire(connection)

    def expire(self, connection):
        self.ends[connection] = 0
        try:
            connection.shutdown(socket.SHUT_RD)
        except OSError:
            pass  # the client has closed it

    def has_expired(self, connection):
        return self.ends[connection] == 0

    def shutdown_request(self, request):
        with self.lock:
            self.ends.pop(request, None)
        super().shutdown_request(request)


def load_cipher():
    """Imports nacl after the arguments are parsed, so that --help needs no package."""
    global encrypt
    try:
        from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt
    except ImportError:
        sys.exit("backend.py: the Python package nacl is needed: python3-nacl on Debian")


def main():
    parser = argparse.ArgumentParser(
        description="Issues tokens of a server's key to users. Replace `account` by the game's own login.",
        epilog="Then: curl -d user=ada http://127.0.0.1:8080/token. This example knows the users %s." % ", ".join(USERS))
    parser.add_argument("key_file", metavar="KEY_FILE", help="made by hindcastd key")
    parser.add_argument("port", metavar="PORT", nargs="?", type=int, default=8080, help="default 8080; 0: any")
    parser.add_argument("--hindcastd", metavar="FILE", help="the program that prints the protocol-id (default: "
                        "../build/release/bin/hindcastd, or else by PATH)")
    parser.add_argument("--game", metavar="FILE", help="the server's --game (default: the arena)")
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error("PORT '%d': must be in [0, 65535]" % options.port)
    load_cipher()
    try:
        read_key(options.key_file)
    except (OSError, ValueError) as error:
        sys.exit("backend.py: key file '%s': %s" % (options.key_file, getattr(error, "strerror", None) or error))
    try:
        protocol_id = read_protocol_id(options.hindcastd, options.game)
        server = Server(("127.0.0.1", options.port), Handler)
    except OSError as error:
        sys.exit("backend.py: port %d: %s" % (options.port, error.strerror or error))
    except ValueError as error:
        sys.exit("backend.py: %s" % error)
    server.key_file, server.protocol_id = options.key_file, protocol_id
    print("listening on 127.0.0.1:%d; try: curl -d user=ada http://127.0.0.1:%d/token"
          % (server.server_port, server.server_port), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
