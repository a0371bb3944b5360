#!/usr/bin/env python3
"""Measures how many clients one core holds: measure_capacity.py DIRECTORY_OF_PROGRAMS [--quick] [--write FILE]

hindcastd has the first core that this program may use, and hindcast-load the last one: 60 Hz, sealed, the
arena with about 8 other players in view, latencies of 20 to 150 ms, 2 % loss each way, light clients and a few
full ones. A run is held if the load test says so of its clients (docs/REPORT.md), and the daemon missed no
tick, left no snapshot out, and had a p99 of tick work of at most 80 % of a tick. Sections:
  search    doubles the clients until a run is not held, bisects, and confirms the result for longer
  floor     hc_bench wire: the same datagrams without a game; hc_bench server: a host without the kernel
  growth    players in view, and room in the world, beside the same world without clients; the runs of the
            search show that of the clients
  joins     many clients at once, and clients that leave and join again
  overload  half of what is held, joined by as many again as are held: 1.5 times the capacity
  match     64 players who all see each other
A run that was not held although its work took little of a tick is played once more: then the machine was
disturbed. Needs a quiet machine with two cores or more; ends within --minutes. Prints markdown; --write also puts it
between the marks of FILE (docs/CAPACITY.md), with plots beside it. It writes nothing, and exits with 1, if the
machine was not quiet: before it began, or because its host took processor time.
"""
import argparse
import datetime
import json
import math
import os
import platform
import signal
import subprocess
import sys
import time

import measure_plot
from measure_programs import END_S, Programs

RATE, OTHERS, MOST = 60, 8, 4096
CLOCK_HZ = os.sysconf("SC_CLK_TCK")
STOLEN_MOST = 0.01  # of the time that the processors worked
LOAD_MOST = 0.3  # load average before
WORLD_RAMP_S = 1  # seconds in which the clients of a world with room for more join
CORNER = 256  # places of a world as large as the corner that corner_plugin.c plays in
TICK_MS = 1000 / RATE
WORK_MOST_MS = 0.8 * TICK_MS
WORK_LITTLE_MS = 0.6 * TICK_MS  # the p99 of a load that should be held
SEARCH_PART = 0.6  # of --minutes
PLANNED = 0.6  # of a core, in the guide: overload begins at 0.75
SIDE_MAX, CELL = 32, 2048  # of the arena's map: cells, and units of a cell
SEEN_FARTHER = 1.2  # a unit leaves a view only a quarter farther away
CALM_S = 5  # before and after an overload
MARKS = "<!-- figures -->\n", "<!-- end of figures -->\n"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("programs")
parser.add_argument("--quick", action="store_true", help="short runs, in about two minutes: for trials")
parser.add_argument("--hold", type=float, help="seconds of a run of the search (default 15; quick 4)")
parser.add_argument("--confirm", type=float, help="seconds of its last run (default 40; quick 8)")
parser.add_argument("--short", type=float, help="seconds of all other runs (default 6; quick 3)")
parser.add_argument("--most", type=int, default=MOST, help="search up to so many clients")
parser.add_argument("--minutes", type=float, help="leave out what would take longer (default 8; quick 3)")
parser.add_argument("--write", metavar="FILE", help="a page with both marks")
options = parser.parse_args()
for name, default, quick in (("hold", 15, 4), ("confirm", 40, 8), ("short", 6, 3), ("minutes", 8, 3)):
    if getattr(options, name) is None:
        setattr(options, name, quick if options.quick else default)
cores = sorted(os.sched_getaffinity(0))
if len(cores) < 2:
    parser.error("two cores are needed: one for the daemon, one for the load test")
programs = Programs(options.programs)
begun = time.monotonic()
page, plots, failed, disturbed = [], [], [], []  # `disturbed`: why the figures are not to be trusted


class NoTime(Exception):
    """A run would end after --minutes."""


class Missing(Exception):
    """A program of the sources, which no package has, is not there."""


def needed(path):
    """The path of a program of the sources."""
    path = os.path.join(options.programs, path)
    if not os.path.exists(path):
        raise Missing(path)
    return path


def put(*words):
    page.extend(words)
    for line in words:
        print(line, flush=True)


def progress(line):
    print(f"{time.monotonic() - begun:5.0f} s  {line}", file=sys.stderr, flush=True)


def need(seconds, part=1.0):
    if time.monotonic() - begun + seconds > 60 * options.minutes * part:
        raise NoTime


def view_of(clients, others, room):
    """The --view with which so many clients, spread evenly in the map of `room` players, see `others`."""
    side = CELL * min(max(math.ceil(math.sqrt(room)), 2), SIDE_MAX)
    if others >= clients - 1:
        return 0  # everything
    # A stretch of 2 * a of the side around a place on it has 2 * a - a * a of it on average.
    return round(side * (1 - math.sqrt(1 - math.sqrt(others / (clients - 1)))) / SEEN_FARTHER)


# ---- One run ------------------------------------------------------------------------------------


def full_of(clients):
    """Full clients of a load. Their own cost grows with the world."""
    return min(clients // 2, 8 if clients <= 1024 else 2)


def load_arguments(port, clients, full, ramp, seconds):
    return ("--connect", "127.0.0.1:" + port, "--processes", 1, "--clients", full, "--light", clients - full,
            "--latency", 20, "--latency-to", 150, "--loss", 2, "--ramp", ramp, "--duration", seconds)


def start_load(name, *arguments):
    return programs.load(name, *arguments, core=cores[-1])


def finish(process):
    """Waits for a load test that has played its time."""
    process.wait(timeout=END_S)


def reasons(server, load):
    """Why a run was not held; empty: it was."""
    found = [reason["text"] for reason in load["load"]["held"]["reasons"]]
    p99 = server["tick_ms"]["p99"] or 0
    if server["ticks_missed"] > 0:
        found.append(f"ticks missed: {server['ticks_missed']}")
    if p99 > WORK_MOST_MS:
        found.append(f"p99 of a tick's work: {p99:.1f} ms")
    if server["overload"]["snapshots_left_out"] > 0:
        found.append(f"snapshots left out under overload: {server['overload']['snapshots_left_out']}")
    late = server["ticks_over_budget"]["began_late"]
    if found and late > 0:
        found.append(f"ticks that began more than a tick late, and share the next one's snapshot: {late}")
    return found


def kbit(bytes_a_second):
    return None if bytes_a_second is None else bytes_a_second * 8 / 1000


def figures(clients, daemon, load):
    """The row of a run, from the reports of the daemon and of the load test."""
    server, tick = daemon["server"], daemon["server"]["tick_ms"]
    client_ticks = max(server["client_ticks"], 1)
    own = [reason["text"] for reason in load["load"]["held"]["reasons"] if reason["key"] == "load_late"]
    return {"clients": clients, "reasons": reasons(server, load), "late": bool(own),
            "in_view": load["client"]["others_in_view"], "us": server["cpu_us_per_client_tick"],
            "load_us": 1000 * load["load"]["cpu_ms"] / client_ticks,
            "down": kbit(load["bytes_down_per_client_s"]), "up": kbit(load["bytes_up_per_client_s"]),
            "resident": server["resident_bytes"] / 1e6, "reserved": server["memory_bytes"] / 1e6,
            "p50": tick["p50"], "p99": tick["p99"], "max": tick["max"], "missed": server["ticks_missed"],
            "start": server["tick_lateness_ms"]["p99"], "daemon": server, "load": load}


def run(clients, seconds, others=OTHERS, room=None, ramp=None, full=None, server=(), more=()):
    """Plays one load against a daemon of its own; returns its row."""
    room = max(room or clients, clients)
    ramp = max(1, clients / 500) if ramp is None else ramp
    full = full_of(clients) if full is None else full
    need(seconds + ramp + 5)
    daemon, port = programs.serve("daemon", "--max-clients", room, "--view", view_of(clients, others, room),
                                  *server, core=cores[0])
    load = start_load("load", *load_arguments(port, clients, full, ramp, seconds), *more)
    try:
        load.wait(timeout=seconds + ramp + END_S)
        row = figures(clients, programs.end("daemon", daemon), programs.report("load"))
    finally:
        load.kill()
        daemon.kill()
    progress(f"{clients} clients, {seconds:g} s: {row['us'] or 0:.1f} us, p99 {row['p99'] or 0:.2f} ms, "
             + ("held" if not row["reasons"] else "not held: " + "; ".join(row["reasons"])))
    return row


# ---- Tables -------------------------------------------------------------------------------------

COLUMNS = (("others in view", "in_view", 1), ("us a client-tick", "us", 1), ("down, kbit/s", "down", 0),
           ("up, kbit/s", "up", 0), ("resident, MB", "resident", 0), ("reserved, MB", "reserved", 0),
           ("work p50, ms", "p50", 2), ("p99, ms", "p99", 2), ("max, ms", "max", 2), ("start p99, ms", "start", 2),
           ("load test, us", "load_us", 1))


def cell(value, decimals=0):
    return "-" if value is None else value if isinstance(value, str) else f"{value:,.{decimals}f}"


def table(heads, rows):
    put("", "| " + " | ".join(heads) + " |", "|" + " ---: |" * len(heads))
    put(*("| " + " | ".join(row) + " |" for row in rows), "")


def verdict(row):
    return "held" if not row["reasons"] else "load test late" if row["late"] else "not held"


def run_table(first, key, rows):
    """A table of runs, and why some were not held."""
    table([first, *(head for head, _, _ in COLUMNS), ""],
          [[cell(row[key]), *(cell(row[name], decimals) for _, name, decimals in COLUMNS), verdict(row)]
           for row in rows])
    put(*(f"- {cell(row[key])}: {'; '.join(row['reasons'])}." for row in rows if row["reasons"]))


def lines(rows, *pairs):
    return [(word, [row[name] for row in rows]) for word, name in pairs]


def plot(name, words, x_name, key, rows, *first):
    """Plots a table of runs beside the page: the `first` panels, memory, and the work of a tick."""
    if not options.write or len(rows) < 2:
        return
    path = os.path.join(os.path.dirname(options.write), f"capacity_{name}.svg")
    plots.append((path, x_name, [row[key] for row in rows], [
        *first, ("memory of the daemon, MB", lines(rows, ("resident", "resident"), ("reserved", "reserved"))),
        ("work of a tick, ms", lines(rows, ("p50", "p50"), ("p99", "p99"), ("max", "max")))]))
    put("", f"![{words}]({os.path.basename(path)})")


def cost_and_traffic(rows):
    return (("processor time, us for each client and tick", lines(rows, ("daemon", "us"), ("load test", "load_us"))),
            ("traffic of a client, kbit/s", lines(rows, ("down", "down"), ("up", "up"))))


# ---- Sections -----------------------------------------------------------------------------------


def attempt(clients, seconds):
    """Plays a run of the search, and once more if the machine seems to have been disturbed."""
    need(seconds + clients / 500 + 5, SEARCH_PART)
    row = run(clients, seconds)
    return run(clients, seconds) if row["reasons"] and (row["p99"] or 0) < WORK_LITTLE_MS else row


def double(rows):
    """Raises the clients until a run is not held; returns that number, and the last one held."""
    low, clients = 0, 16
    while clients <= options.most:
        # A small load says little about the limit, but much about growth.
        rows.append(attempt(clients, options.hold if clients > 256 else min(options.short, options.hold)))
        if rows[-1]["reasons"]:
            return low, clients
        low, clients = clients, clients * (4 if clients < 256 else 2)
    return low, None


def bisect(low, high, rows):
    """Narrows the limit down to a sixteenth; returns the most that was held."""
    while low > 0 and high - low > max(low / 16, 8):
        middle = (low + high) // 16 * 8
        rows.append(attempt(middle, options.hold))
        low, high = (low, middle) if rows[-1]["reasons"] else (middle, high)
    return low


def confirm(low, rows):
    """Holds the result for longer; returns the number that was held so."""
    while low >= 16:
        row = attempt(low, options.confirm)
        rows[:] = [other for other in rows if other["clients"] != low] + [row]
        if not row["reasons"]:
            break
        low = low * 19 // 20 // 8 * 8
    return low if low >= 16 else 0


def search():
    """Returns the most clients that were held, the row of that run, and all rows."""
    rows = []
    held, confirmed = 0, False
    try:
        held, high = double(rows)
        held = bisect(held, high, rows) if high else held
        held, confirmed = confirm(held, rows), True
    except NoTime:
        held = max((row["clients"] for row in rows if not row["reasons"]), default=0)
    rows.sort(key=lambda row: row["clients"])
    best = next((row for row in rows if row["clients"] == held), None)
    put(f"**{held} clients were held**" + (f" for {options.confirm:g} s." if confirmed and held else
                                           ", but no time was left to confirm it." if held else "."))
    if rows and rows[-1]["clients"] <= held:
        put(f"That is the most that was tried (`--most {options.most}`).")
    if any(row["late"] for row in rows if row["clients"] > held):
        put("Above it the load test itself was late: the server may hold more.")
    run_table("clients", "clients", rows)
    plot("clients", "processor time, traffic, memory and tick work over the number of clients", "clients",
         "clients", [row for row in rows if row["clients"] <= held],
         *cost_and_traffic([row for row in rows if row["clients"] <= held]))
    return held, best, rows


def bench(name, *arguments, **more):
    """The first figures of a benchmark."""
    path = programs.path(name)
    needed("hc_bench")
    programs.start("hc_bench", name, *arguments, "--json", path, stdout=subprocess.DEVNULL, **more).wait(
        timeout=60 * options.minutes)
    return programs.report(name)[0]


def floor(best, rows):
    need(15 if options.quick else 50)
    server = best["daemon"]
    up = round(best["up"] * 1000 / 8 / RATE) - 28  # without the headers of IP and UDP
    down = round(server["bytes_sent"] / server["datagrams_sent"])
    wire = bench("wire", "--clients", best["clients"], "--up", up, "--down", down)
    put(f"`hc_bench wire --clients {best['clients']} --up {up} --down {down}` in the same run: the daemon's sockets "
        f"alone receive, open, seal and send these datagrams without a game in {wire['us']:.2f} us a client-tick, the "
        f"floor. The daemon took {best['us']:.1f} us: {best['us'] / wire['us']:.1f} times (aim: 1.3, at most 1.8).")
    clients = 64 if options.quick else 256
    host = bench("server", "--clients", clients, core=cores[0])
    same = next((f", and the daemon took {row['us']:.1f}" for row in rows if row["clients"] == clients), "")
    put(f"`hc_bench server --clients {clients}`: a host without the kernel takes {host['sum_us']:.1f} us a "
        f"client-tick, {host['floor_us']:.2f} of them to open and seal{same}.")


def growth_in_view(clients):
    seen = [others for others in (8, 63) if others < clients] if options.quick else \
        [others for others in (4, 8, 16, 32) if others < clients]
    rows = [{**run(clients, options.short, others=others), "wanted": others} for others in seen]
    put(f"{clients} clients; the view is chosen for the players in the first column.")
    run_table("wanted in view", "wanted", rows)
    plot("view", "the same over the players in view", "other players in view, as wanted", "wanted", rows,
         *cost_and_traffic(rows))


def idle(room, seconds, *server):
    """Runs a daemon without clients; returns its report."""
    need(seconds + 5)
    daemon, _ = programs.serve("idle", "--max-clients", room, *server, core=cores[0])
    time.sleep(seconds)
    return programs.end("idle", daemon)["server"]


def corner_game():
    return "--game", needed("../games/corner_plugin.so")


def in_room(clients, room, empty, seed):
    """Splits the time of a tick into that of the world, by the run `empty` without clients, and that of each
    client."""
    # Linear snapshots in every world: a slower one would change to them, and the others would not.
    more = (*corner_game(), "--extrapolation", "linear", "--seed", seed)
    row = run(clients, options.short, room=room, full=0, ramp=WORLD_RAMP_S, more=more,
              server=(*corner_game(), "--seed", seed, "--view", view_of(clients, OTHERS, CORNER)))
    server, world = row["daemon"], empty["tick_ms"]["p50"]
    ticks = server["tick_lateness_ms"]["count"] - empty["tick_lateness_ms"]["count"]
    each = 1000 * (server["cpu_ms"] - empty["cpu_ms"] - ticks * world) / max(server["client_ticks"], 1)
    return {**row, "room": room, "each": each, "world": world}


def growth_of_world(clients):
    rooms, seeds = ((CORNER, 4096), (1,)) if options.quick else ((CORNER, 1024, 4096), (1, 2, 3))
    empty = {room: idle(room, options.short + WORLD_RAMP_S, *corner_game()) for room in rooms}
    played = [[in_room(clients, room, empty[room], seed) for room in rooms] for seed in seeds]
    rows = [sorted(column, key=lambda row: row["us"])[len(seeds) // 2] for column in zip(*played)]
    put(f"{clients} light clients with the same view and linear snapshots in worlds with room for more "
        "(`--max-clients`), after as long a run of a daemon without clients. They play in the corner that a world "
        f"for {CORNER} would be, so they see as many players and pickups. The world's time is the p50 of that "
        "daemon's work in a tick; a client's time is the difference of both daemons' processor time."
        + (f" The median of {len(seeds)} runs, the worlds in turn." if len(seeds) > 1 else ""))
    if any(row["reasons"] for row in rows) or rows[0]["each"] <= 0:
        put("Not all runs were held, so the worlds are not compared.")
    else:
        put(f"From the smallest world to the largest the whole time of a client-tick grows "
            f"{rows[-1]['us'] / rows[0]['us']:.2f} times, and a client's part without the empty world "
            f"{rows[-1]['each'] / rows[0]['each']:.2f} times (must: at most 1.3).")
    table(["room for players", "a client, us a tick", "the world, ms a tick", "us a client-tick", "resident, MB",
           "reserved, MB", "work p99, ms", ""],
          [[cell(row["room"]), cell(row["each"], 1), cell(row["world"], 2), cell(row["us"], 1),
            cell(row["resident"]), cell(row["reserved"]), cell(row["p99"], 2), verdict(row)] for row in rows])
    put(*(f"- {cell(row['room'])}: {'; '.join(row['reasons'])}." for row in rows if row["reasons"]))
    plot("world", "the same over the room in the world", "players that the world has room for", "room", rows,
         ("processor time of a client, us a tick", lines(rows, ("", "each"))),
         ("processor time of the world, ms a tick", lines(rows, ("", "world"))))


def row_of_joins(words, row):
    join, server = row["load"]["load"]["join_ms"], row["daemon"]
    return [words, cell(row["clients"]), cell(server["joins"]), cell(server["denied"]),
            *(cell(join[key]) for key in ("p50", "p99", "max")), cell(row["p99"], 2), cell(row["missed"]),
            verdict(row)]


def joins(held):
    runs = [("all join in a second", run(held, options.short, ramp=1, full=0))]
    if not options.quick and held != 1000:
        runs.append(("1,000 join in a second", run(1000, options.short, ramp=1, full=0)))
    for part in (0.8,) if options.quick else (1, 0.8):
        clients = max(int(held * part), 16)
        each = clients / 10
        runs.append((f"{each:.0f} a second leave and join again, at {100 * part:.0f} % of the held number",
                     run(clients, options.short, room=clients + math.ceil(2 * each), full=0,
                         more=("--churn", each))))
    put("The time to join includes the handshake's round trips over the simulated link.")
    table(["", "clients", "joins", "denied", "join p50, ms", "p99", "max", "work p99, ms", "ticks missed", ""],
          [row_of_joins(*each) for each in runs])
    put(*(f"- {words}: {'; '.join(row['reasons'])}." for words, row in runs if row["reasons"]))
    first = runs[0][1]
    put(f"In the first row a light client took the load test {first['load_us']:.1f} us a client-tick, and the daemon "
        f"{first['us']:.1f}.")


def events(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            event["at"] = datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()
            yield event


def recovery(log, left_at):
    """Seconds from the end of the overload to the end of its level; None: it stayed."""
    ends = [event for event in log if event["event"] in ("overload", "overload-ended")]
    before = [event for event in ends if event["at"] <= left_at]
    if not before or before[-1]["event"] == "overload-ended":
        return 0.0
    return next((event["at"] - left_at for event in ends
                 if event["at"] > left_at and event["event"] == "overload-ended"), None)


def surge(held, seconds):
    """Plays the overload. Returns the daemon's report, those of both load tests, when the second one left, and
    the daemon's log."""
    base, room = held // 2, held // 2 + held
    log = programs.path("log")
    with open(log, "w", encoding="utf-8") as file:
        daemon, port = programs.serve("daemon", "--max-clients", room, "--view", view_of(room, OTHERS, room),
                                      "--log-level", "info", "--log-format", "json", core=cores[0], stderr=file)
    calm = start_load("calm", *load_arguments(port, base, full_of(base), 1, seconds + 3 * CALM_S))
    time.sleep(CALM_S)
    more = start_load("surge", *load_arguments(port, held, 0, 1, 10 * END_S))
    try:
        time.sleep(seconds)
        left_at = time.time()
        more.send_signal(signal.SIGTERM)
        finish(more)
        finish(calm)
        daemon_report = programs.end("daemon", daemon)
    finally:
        for process in (calm, more, daemon):
            process.kill()
    return daemon_report, [programs.report("calm"), programs.report("surge")], left_at, list(events(log))


def overload(held):
    seconds = 8 if options.quick else 20
    need(seconds + 4 * CALM_S)
    report, loads, left_at, log = surge(held, seconds)
    server, over = report["server"], report["server"]["overload"]
    after = recovery(log, left_at)
    dropped = sum(load["client"][key] for load in loads for key in ("closed_by_server", "timeouts", "cut_off"))
    lost = sum(load["client"]["connections_lost"] for load in loads)
    put(f"{held // 2} clients play; {held} more join in a second, and leave after {seconds} s.", "",
        f"- Ticks: {server['ticks_missed']} of {report['ticks']} missed, work p99 {server['tick_ms']['p99']:.1f} ms, "
        f"start p99 {server['tick_lateness_ms']['p99']:.1f} ms late.",
        f"- Clients: {server['joins']} joined, {dropped} were dropped, {lost} lost their connection, "
        f"{over['joins_refused']} joins were refused.",
        f"- Degraded: {over['snapshots_left_out']:,} of {over['snapshots_left_out'] + server['snapshots']:,} snapshots "
        f"were left out, {over['far_snapshots_left_out']:,} of them of far or idle clients; ticks by level from 0 on: "
        f"{', '.join(map(str, over['ticks_by_level']))}.",
        *(f"- Level {level}: {why}." for level, why in
          sorted({(event["overload_level"], event["why"]) for event in log if event["event"] == "overload"})),
        "- Nothing was degraded." if over["highest"] == 0 else "- It had not recovered at the end."
        if after is None else f"- Recovered {after:.1f} s after they left (aim: within 2).")
    if any(reason["key"] == "load_late" for load in loads for reason in load["load"]["held"]["reasons"]):
        put("- The load test itself was late.")


# ---- The guide ----------------------------------------------------------------------------------


def match_of_64(clients=64):
    """The bill of a match whose players all see each other."""
    rates = (RATE, 20)
    rows = [{**run(clients, options.short, others=clients, server=("--snapshot-rate", rate),
                   more=("--snapshot-rate", rate)), "rate": rate} for rate in rates]
    run_table("snapshots a second", "rate", rows)
    for row in rows:
        put(f"- {row['rate']} snapshots a second: {cores_of(clients, row):.2f} cores, "
            f"{clients * row['down'] / 1000:.1f} Mbit/s down and {clients * row['up'] / 1000:.1f} up, "
            f"{row['resident']:.0f} MB.")
    return rows[0]


def cores_of(players, row):
    """Cores that the players keep busy, without any reserve."""
    return players * row["us"] * RATE / 1e6


def bill(players, row):
    return [f"{players * row['down'] / 1000:.0f}", f"{players * row['up'] / 1000:.0f}",
            f"{players * row['resident'] / row['clients'] / 1000:.2f}"]


def guide(best, match):
    put("One world has one core, and the left half ends at the number that was held; it shows how busy that core is. "
        f"Matches share cores, which are planned here to be busy for {100 * PLANNED:.0f} % of the time. Mbit/s are "
        "with 28 bytes of IP and UDP headers for each datagram.")
    table(["players", "one world: busy", "Mbit/s down", "up", "GB", "matches of 64: cores", "Mbit/s down", "up", "GB"],
          [[cell(players), *([f"{100 * cores_of(players, best):.0f} %", *bill(players, best)]
                             if players <= best["clients"] else ["-"] * 4),
            f"{cores_of(players, match) / PLANNED:.1f}", *bill(players, match)]
           for players in sorted({64, 256, 1024, best["clients"], 4096, 16384})])


def section(title, measure, *arguments):
    """Prints a section; returns what `measure` returns, or None without enough time."""
    put("", f"### {title}", "")
    progress(title)
    try:
        return measure(*arguments)
    except NoTime:
        put(f"Left out: it would have ended after {options.minutes:g} minutes (`--minutes`).")
    except Missing as missing:
        put(f"Left out: {missing} is not there, which only the sources build.")
    except Exception as error:  # the other sections are measured still
        put(f"Failed: {type(error).__name__}: {error}.")
        failed.append(title)
    return None


def write():
    for each in plots:
        measure_plot.write(*each)
    with open(options.write, encoding="utf-8") as file:
        head, rest = file.read().split(MARKS[0])
    tail = rest.split(MARKS[1])[1]
    with open(options.write, "w", encoding="utf-8") as file:
        file.write(head + MARKS[0] + "\n".join(page).strip() + "\n" + MARKS[1] + tail)


def processor_times():
    """Seconds that all processors worked, and that the host took from them, since the machine began."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    return (user + nice + system + interrupts + soft) / CLOCK_HZ, stolen / CLOCK_HZ


def say_stolen(before):
    """Tells how much of the time other machines on the host have taken, which makes ticks late."""
    work, stolen = (now - then for now, then in zip(processor_times(), before))
    put("", f"While these figures were measured, the host took {stolen:.1f} s from the processors, which worked for "
        f"{work:.0f} s.")
    if stolen > STOLEN_MOST * work:
        disturbed.append(f"the host took {stolen:.1f} s of {work:.0f} s")


def conditions():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(": ")[1].strip() for line in file if line.startswith("model name")), "unknown")
    load = os.getloadavg()[0]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    put(f"`python3 tests/measure_capacity.py {' '.join(sys.argv[1:])}`: {len(cores)} cores, {model}, "
        f"Linux {platform.release()}, commit {commit.stdout.strip() or 'unknown'}, load average before {load:.1f}.")
    if load > LOAD_MOST:
        disturbed.append(f"the load average before was {load:.1f}")
        if options.write:
            sys.exit(f"measure_capacity.py: the machine is not quiet (load average {load:.1f}): wait")
    put("", f"The daemon had one core and the load test another. Runs of the search lasted {options.hold:g} s, all "
        f"others {options.short:g} s. Memory: resident at the end, and reserved by the configuration.")


def main():
    conditions()
    before = processor_times()
    held, best, rows = section("Clients that one core holds", search) or (0, None, [])
    if best is None:
        put("", "Nothing was held, so nothing else was measured.")
        return 1
    some = max(min(256, held // 2), 32)
    section("The floor", floor, best, rows)
    section("Growth with the players in view", growth_in_view, some)
    section("Growth with the world", growth_of_world, some)
    section("Joins and churn", joins, held)
    section("Overload: 1.5 times the capacity", overload, held)
    match = section("A match of 64 who all see each other", match_of_64)
    if match is not None:
        section("Players, cores, Mbit/s and memory", guide, best, match)
    say_stolen(before)
    return 0


status = main()
if disturbed:
    print(f"measure_capacity.py: the machine was not quiet ({'; '.join(disturbed)}): do not trust these figures"
          + (f"; {options.write} is unchanged" if options.write else ""), file=sys.stderr)
elif options.write:
    write()
progress("done")
sys.exit(status or bool(failed) or bool(disturbed and options.write))
