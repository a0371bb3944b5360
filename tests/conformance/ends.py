"""Checks how connections end and begin again: DENY, CLOSE, silence and restarts."""
import os, signal, struct, time
from hcast import *
from harness import *


def leave(c, reason=1):
    """Sends CLOSE until one is acknowledged; returns the DATA that acknowledge one."""
    first = c.seq + 1
    again, n = time.monotonic(), 0
    answers = lambda: [x for x in c.log if x[1] >= first]
    while not answers() and time.monotonic() < again + LIMIT:
        if time.monotonic() >= again and n < 30:
            again, n = again + 0.075 * (n >= 2), n + 1
            c.send([CLOSE, reason])
        c.poll(0.01)
    return answers()


def denial(t, c):
    try:
        c.connect()
        return None
    except Denied as e:
        return e.args[2]
    except Malformed:
        return None


def again(t, c):
    """Another connection of the same client, with its ticket."""
    client = open_token(t.keys[0][1], t.pid, c.token)["client_id"]
    d = t.client(client=client)
    d.send_hello()
    q = d.connect_datagram()
    t.fence(d)
    begun = time.monotonic()
    c.send()
    d.raw(q)
    a = t.fence(d)
    deny = a and a[0][0] == DENY and a[0][24] == 9 and a[0][29:] == mac16(d.secret, a[0][:29])
    check("again.while-received.deny-9", deny or time.monotonic() - begun > 1, a)
    # Whoever has a copy of the token, and sees the cid, cannot prove that it continues the connection.
    f = t.client(token=c.ticket)
    f.send_hello()
    for name, more in (("without-a-proof", {}), ("with-a-proof-of-another-key", {"continue_key": os.urandom(32)})):
        c.send()
        begun = time.monotonic()
        a = t.probe(f, [f.connect_datagram(continues=c.cid, **more)])
        deny = a and a[0][0] == DENY and a[0][24] == 9
        check("again.continues-%s.deny-9" % name, deny or time.monotonic() - begun > 1, a)
    e = t.join(token=c.ticket, continues=c)
    check("again.continues.resumed-and-same-players", e.resumed == 1 and e.own == c.own, (e.resumed, e.own, c.own))
    wait(lambda: len(e.snaps) >= 5 and e.ticket, e, play=True)
    check("again.begins-anew", e.log and e.log[0][0] == 1 and not e.bad, e.bad[:2])
    c.seq += c.seq & 1                                      # an even seq next but one
    c.send()
    c.reset = None
    c.send()
    wait(lambda: c.reset, c)
    check("again.old-cid.reset", c.reset == c.reset_token, c.reset)
    check("again.a-new-ticket", e.ticket and e.ticket[0] != c.ticket[0])
    check("close.answered", any(x[3] == b"" for x in leave(e)))
    for reason in (1, 3, 7, 9, 40, 200):
        before = len(e.log)
        e.send([CLOSE, reason] + [1] * (reason == 7))
        check("close.repeated-%d.answered-again" % reason, settle(e) and e.log[-1][3] == b"" and len(e.log) > before)
    t.fence(e)
    check("close.server-falls-silent", not wait(lambda: e.receive() is not None, limit=0.3))


def silence(t):
    q, r = t.join(), t.join()                               # r is silent from the first
    q.answers_close = False
    wait(lambda: q.ticket, q, play=True)
    settle(q)
    since = time.monotonic()
    q.send()
    closes = lambda: [e for e in q.log if e[3] == pack([CLOSE, 4])]
    wait(lambda: len(closes()) == 30, q, r)
    at = [e[4] - since for e in closes()]
    check("silence.close-4-after-10-s", q.closed == 4 and 10 <= at[0] <= 100, (q.closed, at[:1]))
    check("silence.three-closes-at-once-and-27-apart", len(at) == 30 and at[2] - at[0] < 0.075 <= at[29] - at[2], at)
    check("silence.no-more-closes", not wait(lambda: len(closes()) > 30, q, limit=0.3))
    print("# silence: CLOSE after %s s" % " ".join("%.3f" % x for x in at))
    e = t.join(token=q.ticket, continues=q)
    check("silence.back-in-time-resumed-and-same-players", e.resumed == 1 and e.own == q.own, (e.resumed, e.own))
    leave(e)
    e = t.client(token=(r.token, r.secret))
    check("silence.from-the-first.token-not-used-up", e.connect()[0] == ACCEPT)
    leave(e)


def second_server(t, path, key_file):
    options = ("--audience=%d" % t.audience, "--max-clients=1", "--snapshot-rate=2")
    s = Server(path, key_file, *options)
    try:
        c = t.join(address=s.address)
        empty = lambda: sum(e[3] == b"" for e in c.log)
        begun = time.monotonic()
        wait(lambda: empty() >= 8 and len(c.snaps) >= 4, c, play=True)
        most = 1 + 10 * (time.monotonic() - begun)
        check("keep-alive.empty-every-100-ms", 8 <= empty() <= most, (empty(), most))
        # A head of which a snapshot is due may be among the at most 16 that a late server simulates at once.
        heads = [m.as_of for m in c.snaps]
        check("snapshot-rate.2", len(heads) >= 4 and all(x % 30 < 16 for x in heads) and
              all(y // 30 == x // 30 + 1 for x, y in zip(heads, heads[1:])), heads)
        o = t.client(address=s.address)
        d = denial(t, o)
        check("full.deny-1", d and d[24] == 1 and d[29:] == mac16(o.secret, d[:29]), d)
        s.stop(signal.SIGKILL)
        s = Server(path, key_file, *options)
        c.sock.connect(s.address)
        c.server = s.address
        c.seq += c.seq & 1                                  # an even seq next but one
        for _ in range(2):
            c.send()
        wait(lambda: c.reset, c)
        check("restart.reset-with-the-token-of-the-ticket", c.reset == c.reset_token, c.reset)
        e = t.join(address=s.address, token=c.ticket, continues=c)
        check("restart.ticket-accepted-not-resumed", e.resumed == 0 and len(e.own) == 1, e.welcome)
        check("restart.ticket-comes-again", wait(lambda: e.ticket, e, play=True))
        e.answers_close = False
        s.p.send_signal(signal.SIGUSR2)
        closes = lambda: [x for x in e.log if x[3] == pack([CLOSE, 7, 1])]
        wait(lambda: len(closes()) > 4, e)
        d = denial(t, t.client(address=s.address))
        check("restarting.deny-3-with-its-seconds", d and d[24:29] == struct.pack("<BI", 3, 1000), d)
        e.send()                                            # it acknowledges them
        s.p.wait(LIMIT)
        e.poll()
        check("restarting.closes-7-until-one-is-acknowledged", 4 < len(closes()) < 30, len(closes()))
        s = Server(path, key_file, *options)
        f = t.join(address=s.address, token=e.ticket, continues=e)
        check("restarted.ticket-accepted-not-resumed", f.resumed == 0 and len(f.own) == 1, f.welcome)
        s.p.send_signal(signal.SIGTERM)
        wait(lambda: f.closed, f)
        s.p.wait(LIMIT)
        n = sum(x[3] == pack([CLOSE, 2]) for x in f.log)
        check("shutdown.close-2-until-it-is-acknowledged", 1 <= n < 30, n)
    finally:
        s.stop()
