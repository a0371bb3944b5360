#!/usr/bin/env python3
"""A service manager as systemd is one to hindcastd: passes sockets, reads notifications, starts the next server.

manager.py [--games N] [--admin PATH] [--names NAMES] [--port FILE] [--watchdog S] --log FILE -- PROGRAM ARGUMENT...

Binds N UDP sockets of one free port of loopback, whose number goes to FILE, and passes them to PROGRAM, with one of
the admin face. Appends a line to the log for each process (`pid N`), for each variable of a notification, and for
each exit status (`status N`). Starts the program again as long as its status is 75. SIGTERM goes to the program.
"""
import argparse
import os
import signal
import socket
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--games", type=int, default=1)
parser.add_argument("--admin")
parser.add_argument("--names")
parser.add_argument("--port")
parser.add_argument("--watchdog", type=float)
parser.add_argument("--log", required=True)
parser.add_argument("command", nargs="+")
options = parser.parse_args()
log = open(options.log, "a", buffering=1)


def open_sockets():
    sockets, names, address = [], [], ("127.0.0.1", 0)
    for _ in range(options.games):
        game = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if options.games > 1:
            game.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        game.bind(address)
        address = game.getsockname()
        sockets.append(game)
        names.append("game")
    if options.admin:
        admin = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        admin.bind(options.admin)
        admin.listen()
        sockets.append(admin)
        names.append("admin")
    if options.port:
        with open(options.port + ".new", "w") as file:
            file.write(f"{address[1]}\n")
        os.rename(options.port + ".new", options.port)
    return sockets, options.names or ":".join(names)


def begin(sockets, names, notify):
    """Starts the program with the sockets from descriptor 3 on."""
    child = os.fork()
    if child != 0:
        print(f"pid {child}", file=log)
        return child
    high = [os.dup2(s.fileno(), 200 + i) for i, s in enumerate(sockets)]
    for i, descriptor in enumerate(high):
        os.dup2(descriptor, 3 + i, inheritable=True)
    os.closerange(3 + len(high), 200 + len(high))
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(high)), LISTEN_FDNAMES=names,
                      NOTIFY_SOCKET=notify)
    if options.watchdog:
        os.environ.update(WATCHDOG_PID=str(os.getpid()), WATCHDOG_USEC=str(int(options.watchdog * 1e6)))
    os.execv(options.command[0], options.command)


def ended(child):
    done, status = os.waitpid(child, os.WNOHANG)
    return None if done == 0 else os.waitstatus_to_exitcode(status)


def main():
    sockets, names = open_sockets()
    with tempfile.TemporaryDirectory() as folder:
        notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notifications.bind(os.path.join(folder, "notify"))
        notifications.settimeout(0.02)
        status = 75
        while status == 75:
            child = begin(sockets, names, notifications.getsockname())
            signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
            status = None
            while status is None:
                try:
                    print(notifications.recv(4096).decode(), file=log)
                except socket.timeout:
                    status = ended(child)
            print(f"status {status}", file=log)
    return status if status >= 0 else 128 - status


sys.exit(main())
