#!/usr/bin/env python3
"""A small backend: hands tokens of a server's key to users who have logged in.

    python3 backend.py KEY_FILE [PORT]    then: curl -d 'user=ada' 127.0.0.1:8080/token

The place for the game's own login is `account`. Put TLS in front: the answer holds a secret. Needs
python3-nacl; what a token is stands in proto/PROTOCOL.md, the protocol_id in proto/ARENA.md.
"""
import base64, os, struct, sys, time, urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt

PROTOCOL_ID, AUDIENCE, LIFE_S = 0xA40D5A0F604D0AF2, 0, 60
USERS = {"ada": 1, "grace": 2}


def account(form):  # (client_id, name) of whoever asks, or None; here everybody may be anybody
    user = form.get("user", [""])[0]
    return (USERS[user], user.encode()) if user in USERS else None


def token(client_id, name):
    lines = [line.split() for line in open(sys.argv[1]) if not line.startswith("#")]
    key_id, key = lines[0]  # the current one
    head = struct.pack("<BBHQ", 1, int(key_id), 0, int(time.time()) + LIFE_S)
    nonce, secret = os.urandom(24), os.urandom(32)
    plain = struct.pack("<16sQ32sQ32s96x", os.urandom(16), client_id, secret, AUDIENCE, name)
    aad = b"HINDCAST-TOKEN-1" + struct.pack("<Q", PROTOCOL_ID) + head
    sealed = encrypt(plain, aad, nonce, bytes.fromhex(key))
    return base64.urlsafe_b64encode(head + nonce + sealed + secret).rstrip(b"=") + b"\n"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        form = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 4096)).decode()
        who = account(urllib.parse.parse_qs(form)) if self.path == "/token" else None
        self.send_response(200 if who else 403)
        self.end_headers()
        self.wfile.write(token(*who) if who else b"")


server = HTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 8080), Handler)
print("listening on 127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
