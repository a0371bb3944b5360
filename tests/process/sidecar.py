#!/usr/bin/env python3
"""A stub of the sidecar of Agones, with its quirks:  sidecar.py PORT_FILE LOG [KEY=VALUE...]

It listens on a free port of loopback, or on port=N, and writes the number to PORT_FILE, and each request to LOG as a
line of JSON: time, method, path, body and status. state=, period=, rooms=COUNT/CAPACITY (none: no counter) and
players=CAPACITY set up the gameserver. PUT /stub changes it: {"state": ..., "allocated": ..., "game": PORT,
"rooms": COUNT, "values": [...], "faults": {PATH: KIND}}. Kinds of faults: hang, garbage, noise, endless, refuse, and of
the stream cut and flood.
"""
import http.server
import json
import os
import sys
import threading
import time

port_file, log_path, *settings = sys.argv[1:]
settings = dict(text.split("=", 1) for text in settings)
lock = threading.Condition()
log = open(log_path, "a", buffering=1)
begun = time.monotonic()
server = {"state": settings.get("state", "Scheduled"), "allocated": None, "faults": {}, "version": 1, "game": int(settings.get("game", 7777)),
          "rooms": None, "players": {"capacity": int(settings.get("players", 16)), "values": []}}
if settings.get("rooms") != "none":
    count, capacity = settings.get("rooms", "0/1").split("/")
    server["rooms"] = {"count": int(count), "capacity": int(capacity)}


class Refused(Exception):
    """Most errors are 500 with the code 2."""


def gameserver():
    annotations = {"agones.dev/sdk-version": "1.57.0"}
    if server["allocated"]:
        annotations["agones.dev/last-allocated"] = server["allocated"]
    rooms, players = server["rooms"], server["players"]
    return {
        "object_meta": {"name": "hindcast-1", "namespace": "default", "uid": "1", "resource_version": "1",
                        "generation": "1", "creation_timestamp": "-62135596800", "deletion_timestamp": "0",
                        "annotations": annotations, "labels": {}},
        "spec": {"health": {"disabled": False, "period_seconds": int(settings.get("period", 1)),
                            "failure_threshold": 3, "initial_delay_seconds": 5}},
        "status": {"state": server["state"], "address": "127.0.0.1", "addresses": [],
                   "ports": [{"name": "other", "port": 1}, {"name": "game", "port": server["game"]}],
                   "players": None,
                   "counters": {"rooms": {name: str(rooms[name]) for name in rooms}} if rooms else {},
                   "lists": {"players": {"capacity": str(players["capacity"]), "values": players["values"]}}}}


def change():
    server["version"] += 1
    lock.notify_all()


def counter(body):
    rooms = server["rooms"]
    if rooms is None:
        raise Refused("counter not found: rooms")
    if body is not None:
        rooms["capacity"] = int(body.get("capacity", rooms["capacity"]))
        rooms["count"] = min(rooms["count"], rooms["capacity"])
        count = int(body.get("count", rooms["count"])) + int(body.get("countDiff", 0))
        if not 0 <= count <= rooms["capacity"]:
            raise Refused(f"out of range. Count must be within range [0,Capacity]. Found Count: {count}")
        rooms["count"] = count
        change()
    return {"name": "rooms", "count": str(rooms["count"]), "capacity": str(rooms["capacity"])}


def players(verb, body):
    held = server["players"]
    values = held["values"]
    if verb == ":addValue":
        if body["value"] in values:
            raise Refused("already exists. Value: " + body["value"])
        if len(values) >= held["capacity"]:
            raise Refused("out of range. No available capacity")
        values.append(body["value"])
    elif verb == ":removeValue":
        if body["value"] not in values:
            raise Refused("not found. Value: " + body["value"])
        values.remove(body["value"])
    elif body is not None:
        held["capacity"] = int(body["capacity"])
    if body is not None:
        change()
    return {"name": "players", "capacity": str(held["capacity"]), "values": values}


def answer(method, path, body):
    """The body of the answer to a request."""
    states = {"/ready": "Ready", "/allocate": "Allocated", "/shutdown": "Shutdown"}
    if method == "POST" and path in states:
        server["state"] = states[path]
        if path == "/allocate":
            server["allocated"] = f"by itself at {server['version']}"
        change()
        return {}
    if (method, path) == ("POST", "/health"):
        return {}
    if (method, path) == ("GET", "/gameserver"):
        return gameserver()
    if path == "/v1beta1/counters/rooms":
        return counter(body)
    if path.startswith("/v1beta1/lists/players"):
        return players(path[len("/v1beta1/lists/players"):], body)
    raise Refused("unknown " + path)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def reply(self, status, body):
        text = (json.dumps(body) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def part(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def stream(self, fault):
        """Each event comes twice: the first at once, the others as the gameserver changes."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        seen = 0
        while True:
            with lock:
                lock.wait_for(lambda: server["version"] != seen or fault == "flood")
                seen = server["version"]
                event = json.dumps({"result": gameserver()}, separators=(",", ":")).encode()
            if fault == "garbage":
                event = b"{]" + bytes(range(128, 256))
            if fault == "endless":
                event = b"x" * 65536
            if fault == "cut":
                self.wfile.write(b"%x\r\n%s" % (len(event) + 2, event[:30]))
                self.close_connection = True
                return
            half = len(event) // 2
            for end in (b"\n", b"\n") if fault != "endless" else (b"",) * 64:
                self.part(event[:half])  # an event need not be one chunk
                self.part(event[half:] + end)

    def fail(self, fault):
        """A fault of an answer that is none of the stream's."""
        self.close_connection = True
        if fault == "hang":
            with lock:
                lock.wait_for(lambda: server["faults"].get(self.path) != fault)
        elif fault == "noise":
            self.wfile.write(bytes(range(256)) * 64)
        elif fault == "garbage":
            self.reply(200, "no gameserver")
        elif fault == "refuse":
            self.reply(500, {"code": 2, "message": "as it was told", "details": []})
        elif fault == "endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b" " * 65536)

    def take(self):
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size)
        with lock:
            fault = server["faults"].get(self.path)
            status, body = 200, None
            if self.path == "/stub":
                told = json.loads(text)
                if "rooms" in told:
                    server["rooms"]["count"] = told.pop("rooms")
                if "values" in told:
                    server["players"]["values"] = told.pop("values")
                server.update(told)
                change()
                body = dict(server)
            elif fault is None and self.command == "POST" and size == 0:
                status, body = 400, {"code": 3, "message": "EOF", "details": []}
            elif fault is None and self.path != "/watch/gameserver":
                try:
                    body = answer(self.command, self.path, json.loads(text) if text else None)
                except Refused as why:
                    status, body = 500, {"code": 2, "message": str(why), "details": []}
            log.write(json.dumps({"t": time.monotonic() - begun, "method": self.command, "path": self.path,
                                  "body": text.decode(), "status": status, "fault": fault}) + "\n")
        try:
            if self.path == "/watch/gameserver" and fault in (None, "garbage", "endless", "cut", "flood"):
                self.stream(fault)
            elif fault is not None:
                self.fail(fault)
            else:
                self.reply(status, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_PUT = take


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


stub = Server(("127.0.0.1", int(settings.get("port", 0))), Handler)
with open(port_file + ".new", "w") as out:
    out.write(str(stub.server_address[1]))
os.rename(port_file + ".new", port_file)
stub.serve_forever()
