#!/usr/bin/env python3
"""Plays eight bots for 20 s on each link, with the default timing and with what it was before, and prints a line for
each: measure_links.py DIRECTORY_OF_PROGRAMS"""
import sys

from measure_programs import Programs

programs = Programs(sys.argv[1])
print("link   timing    verdict  rewinds  depth p50/p99/max  ticks again  late of received  rollbacks  depth p50/p99"
      "  down, up B/s")
for link in ("good", "ok", "bad", "awful"):
    for timing, options in (("3, 0", ("--input-delay", 3, "--lead", 0)), ("balanced", ())):
        name = link + "-" + timing.replace(", ", "-")
        programs.load(name, "--spawn", "--clients", 8, "--duration", 20, "--link", link, *options).wait()
        report = programs.report(name)
        server, client = report["server"], report["client"]
        depth, rollback = server["rewind_depth_ticks"], client["rollback_depth_ticks"]
        print(f"{link:6} {timing:9} {'OK' if report['verdict']['ok'] else 'NOT OK':7} {server['rewinds']:8}"
              f"  {depth['p50'] or 0:5}/{depth['p99'] or 0}/{depth['max'] or 0}"
              f"  {server['resimulated_ticks']:11}"
              f"  {server['inputs']['late']:10} of {server['inputs']['received']}"
              f"  {client['rollbacks']:9}  {rollback['p50']:6}/{rollback['p99']}"
              f"  {report['bytes_down_per_client_s']:8.0f}, {report['bytes_up_per_client_s']:.0f}")
