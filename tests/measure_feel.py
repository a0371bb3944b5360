#!/usr/bin/env python3
"""Draws what the presets cost over the round trip: python3 tests/measure_feel.py GRID.json OUT.svg, of the file that
`hc_bench feel --table grid --json GRID.json` writes."""
import json
import sys

import measure_plot

PRESETS = ("rewind", "balanced", "ahead")
PANELS = (
    ("own key until the own screen shows it, ticks", "own_ticks"),
    ("the same key until another screen shows it, ms", "seen_ms_p50"),
    ("farthest shown off there, % of the screen, p95", "pop_percent_p95"),
    ("until it is shown right there for good, ms, p95", "right_ms_p95"),
    ("ticks that a rewind of the server goes back, p50", "rewind_depth_p50"),
    ("ticks that a rollback of a client goes back, p50", "rollback_depth_p50"),
)


def main(source, target):
    with open(source, encoding="utf-8") as file:
        rows = [row for row in json.load(file) if row["table"] == "grid"]
    rows = [row for row in rows if row["jitter_ms"] == 0 and row["loss_percent"] == 0]
    trips = sorted({row["round_trip_ms"] for row in rows})
    value = {(row["preset"], row["round_trip_ms"]): row for row in rows}
    panels = [(title, [(preset, [value[preset, trip][key] for trip in trips]) for preset in PRESETS])
              for title, key in PANELS]
    measure_plot.write(target, "round trip, ms", trips, panels)


if __name__ == "__main__":
    main(*sys.argv[1:])
