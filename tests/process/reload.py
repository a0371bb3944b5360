"""Reloads the configuration of a server many times, half of them broken: reload.py PID CONFIG COUNT.

Waits after each SIGHUP until the server has closed the file, so each signal is a reading of its own. Prints the
resident memory after the first tenth and at the end, in KiB.
"""
import ctypes, os, signal, struct, sys

CLOSE_NOWRITE = 0x10
pid, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
GOOD = ("late-margin = {0}\nsnapshot-rate = {1}\nclient-rate = {2}\ntimeout = {3}\nlinger = {0}\n"
        "connects-per-address = {0}\nrestart-seconds = {0}\nhistory = {0}\n")
BROKEN = ["late-margin = 513\n", "no-such = 1\n", "[section]\nlinger = 1\n", "linger = 1\nlinger = 1\n", "linger\n",
          "snapshot-rate = 61\n", "linger = x\nlate-margin = -1\nlog-level = loud\n" + "x\n" * 100, "a" * 5000,
          "dev = maybe\n", "linger = 1\0\n", "config = other\n"]


def resident():
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


libc = ctypes.CDLL(None, use_errno=True)
watcher = libc.inotify_init()
if watcher < 0 or libc.inotify_add_watch(watcher, os.fsencode(os.path.dirname(path)), CLOSE_NOWRITE) < 0:
    sys.exit("no inotify: " + os.strerror(ctypes.get_errno()))


def wait_closed():
    """Waits until somebody has closed the configuration after reading it."""
    while True:
        events, at = os.read(watcher, 65536), 0
        while at < len(events):
            size = struct.unpack_from("iIII", events, at)[3]
            name = events[at + 16:at + 16 + size].rstrip(b"\0").decode()
            if name == os.path.basename(path):
                return
            at += 16 + size


early = 0
for number in range(count):
    if number % 2 == 0:
        text = GOOD.format(10 + number % 50, number // 2 % 3 * 30, 100000 + number, 10 + number % 5)
    else:
        text = BROKEN[number // 2 % len(BROKEN)]
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(path + ".new", path)
    os.kill(pid, signal.SIGHUP)
    wait_closed()
    if number == count // 10:
        early = resident()
print(early, resident())
