#!/usr/bin/env python3
"""Plants each fault into a copy of the sources and checks that the exactness program finds it.

    timeline.py [HISTORIES]    at most so many histories for each fault (default 1000)

Each fault breaks one rule of the timeline. Prints a table: the fault, the histories until it was
caught, and the first difference. Exit status 0 only if the unchanged sources pass and every fault is
caught.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from hunt import kill_session
from planting import Fault, Ground, check_places, each, planted, planted_text

PROGRAM = "bin/exact_histories"
SECONDS = 120  # a fault may make the program loop forever

TIMELINE = "common/timeline.c"
RING = "common/ring.h"
SPREAD = "common/spread.c"
STEPPING = "common/stepping.c"
INPUTS = "common/inputs.c"
VACANCY = "common/vacancy.c"

FAULTS = {
    "old-position": Fault(
        SPREAD,
        "entities near the old position are not stepped again",
        "        if (move->had && is_near(tl, row->grid, row->states, e, move->from))\n            set_bit(row->again, e);\n",
        "",
        found_by="scenario_foreign_inputs",
    ),
    "new-position": Fault(
        SPREAD,
        "entities near the new position are not stepped again",
        "        if (move->has && is_near(tl, row->grid, row->states, e, move->to))\n            set_bit(row->again, e);\n",
        "",
        found_by="exact_histories 30",
    ),
    "owner": Fault(
        SPREAD,
        "entities of the same owner are not stepped again",
        "        hc_spread_mark_owned(tl, row, world->owner_of[entity]);\n",
        "        (void)row;\n",
        found_by="exact_histories 30",
    ),
    "referee-readers": Fault(
        SPREAD,
        "readers of a changed group of the referee are not stepped again",
        "        mark_readers(tl, row, was == is ? changed_groups(tl, old, new) : UINT8_MAX);\n",
        "        (void)mark_readers, (void)changed_groups, (void)old, (void)new;\n",
        found_by="unit_timeline",
    ),
    "referee-reads": Fault(
        SPREAD,
        "a changed reduction does not step the referee again",
        "    memcpy(given, fresh, bytes);\n    hc_spread_mark(tl, row, HC_REFEREE);\n",
        "    memcpy(given, fresh, bytes);\n",
        found_by="exact_histories 1000",
    ),
    "referee-held": Fault(
        SPREAD,
        "the referee is not stepped again when the last player becomes known",
        "    if (is_player(world, entity) && (was == HC_UNKNOWN) != (is == HC_UNKNOWN))\n"
        "        hc_spread_mark(tl, row, HC_REFEREE);\n",
        "",
        found_by="exact_histories 1000",
    ),
    "index": Fault(
        SPREAD,
        "the index of a tick is not patched when a state in it changes",
        "        move_in_grid(tl, row, entity, &move);\n",
        "        (void)move_in_grid;\n",
        found_by="exact_histories 30",
    ),
    "neighbour-order": Fault(
        SPREAD,
        "neighbours come in the order of the index",
        "        for (; to > 0 && near[to - 1] > e; to--)\n            near[to] = near[to - 1];\n",
        "",
        found_by="exact_histories 30",
    ),
    "past-readers": Fault(
        SPREAD,
        "the steps that have looked back at a changed state are not taken again",
        "            mark_past(tl, row, entity, &move);\n",
        "            (void)mark_past;\n",
        found_by="exact_histories 30",
    ),
    "past-old-position": Fault(
        SPREAD,
        "steps near the old position of an entity in the past are not taken again",
        "            if (move->had && is_near(tl, later.grid, later.states, e, move->from))\n                set_bit(later.again, e);\n",
        "",
        found_by="exact_histories 1000",
    ),
    "past-new-position": Fault(
        SPREAD,
        "steps near the new position of an entity in the past are not taken again",
        "            if (move->has && is_near(tl, later.grid, later.states, e, move->to))\n                set_bit(later.again, e);\n",
        "",
        found_by="exact_histories 1000",
    ),
    "past-owner": Fault(
        SPREAD,
        "steps that have looked back at a state of their owner are not taken again",
        "            if ((later.past[e] & bit) != 0)\n                set_bit(later.again, e);\n",
        "",
        found_by="exact_histories 30",
    ),
    "past-too-short": Fault(
        RING,
        "the ring holds a tick too few for a look back from its oldest tick",
        "           timeline->config.world->game->lookback;\n",
        "           timeline->config.world->game->lookback * 15 / 16;\n",
        found_by="exact_histories 30",
    ),
    "past-before-restart": Fault(
        SPREAD,
        "a look back reads ticks before a restart",
        "    if (ago > scene->tick - tl->begin) // no tick is older\n",
        "    if (ago > scene->tick)\n",
        found_by="exact_histories 30",
    ),
    "authoritative-overwritten": Fault(
        STEPPING,
        "a change of an earlier tick overwrites an authoritative state",
        "        if (authoritative != NULL) {\n",
        "        if (authoritative != NULL && false) {\n",
        found_by="scenario_corrections_window",
    ),
    "older-as-of": Fault(
        TIMELINE,
        "a state of an older as_of replaces a newer one",
        "        if (*held != HC_NO_TICK && *held >= as_of)\n            continue;\n",
        "",
        found_by="hc_storm 13..13",
    ),
    "authoritative-outlives-tick": Fault(
        STEPPING,
        "an authoritative state stays in the ring for the next tick of its slot",
        "    if (tl->config.replica)\n        clear_authoritative",
        "    if (tl->config.replica && tick < hc_ring_slots(tl))\n        clear_authoritative",
        found_by="exact_histories 30",
    ),
    "received-forgotten": Fault(
        TIMELINE,
        "the next tick of a slot does not know that it must forget an authoritative state",
        "        row.received[e / 64] |= UINT64_C(1) << e % 64;\n",
        "",
        found_by="exact_histories 30",
    ),
    "unknown-keeps-state": Fault(
        STEPPING,
        "an unknown entity has the state that its slot held at a former tick",
        "            memset(next->states + e * stride, 0, 8 * stride);\n",
        "            memset(next->states + e * stride, 0, stride);\n",
        found_by="exact_histories 30",
    ),
    "before-restart": Fault(
        RING,
        "ticks before a restart are stepped again",
        "    return tick >= timeline->oldest && tick < timeline->head;\n",
        "    return tick + 1 >= timeline->oldest && tick < timeline->head;\n",
        found_by="exact_histories 30",
    ),
    "roster-change-unread": Fault(
        TIMELINE,
        "a late roster change does not step its player again",
        "        hc_spread_mark_owned(tl, &row, player);\n",
        "        (void)row;\n",
        found_by="exact_histories 30",
    ),
    "no-new-prediction": Fault(
        INPUTS,
        "a late input changes only its own slot, not the predictions from it",
        "        if (t > from && (has_base(in, cell)",
        "        if (t >= from || (has_base(in, cell)",
        found_by="exact_histories 30",
    ),
    "equals-prediction": Fault(
        INPUTS,
        "a late input that equals its prediction renews nothing, not even its age",
        "    refresh(in, player, tick);\n    if (!in->replica)\n        renew_inputs_through(in, player);\n",
        "    if (tick >= in->head ||\n"
        "        memcmp(in->effective + cell * input_size(in), input, input_size(in)) != 0)\n"
        "        refresh(in, player, tick);\n"
        "    if (!in->replica)\n        renew_inputs_through(in, player);\n",
        found_by="unit_timeline",
    ),
    "base-across-join": Fault(
        INPUTS,
        "a prediction starts from an input before the join",
        "    if (in->roster_change[cell] != HC_ROSTER_NONE)\n        return HC_NO_TICK;\n"
        "    return has_base",
        "    if (in->roster_change[cell] == HC_ROSTER_LEAVE)\n        return HC_NO_TICK;\n"
        "    return has_base",
        found_by="exact_histories 30",
    ),
    "base-across-leave": Fault(
        INPUTS,
        "a prediction starts from an input before the leave",
        "    if (in->roster_change[cell] != HC_ROSTER_NONE)\n        return HC_NO_TICK;\n"
        "    return has_base",
        "    if (in->roster_change[cell] == HC_ROSTER_JOIN)\n        return HC_NO_TICK;\n"
        "    return has_base",
        found_by="exact_histories 30",
    ),
    "forced-is-base": Fault(
        INPUTS,
        "predictions start from forced inputs",
        "    return in->slot[cell] == HC_SLOT_KNOWN && ",
        "    if (in->slot[cell] == HC_SLOT_FORCED)\n"
        "        memcpy(in->known + cell * input_size(in), in->effective + cell * input_size(in),\n"
        "               input_size(in));\n"
        "    return (in->slot[cell] == HC_SLOT_KNOWN || in->slot[cell] == HC_SLOT_FORCED) &&\n"
        "           ",
        found_by="exact_histories 30",
    ),
    "base-leaves-ring": Fault(
        INPUTS,
        "a prediction base is dropped when its slot leaves the ring",
        "    in->past_base[player] = base;\n",
        "    in->past_base[player] = HC_NO_TICK;\n",
        found_by="exact_histories 30",
    ),
    "vacant-before": Fault(
        VACANCY,
        "a player that is alive at the next tick before that is computed again counts as vacant",
        "        uint64_t used = ((a | b) & HC_PRESENCE_ALIVE_BITS) | (at->again ? a ^ b : 0);\n",
        "        uint64_t used = a & HC_PRESENCE_ALIVE_BITS;\n        (void)b;\n",
        found_by="exact_histories 30",
    ),
    "vacant-joins": Fault(
        VACANCY,
        "a player that joins counts as vacant",
        "    return hc_world_player(world, next_change(tl, at->row->tick, player, end));\n",
        "    (void)next_change, (void)player;\n    return hc_world_player(world, end);\n",
        found_by="exact_histories 30",
    ),
}


class Caught(NamedTuple):
    after: str  # histories
    why: str


def play(program: Path, histories: int) -> Caught | None:
    """None: no history differed, and the program succeeded."""
    played = subprocess.Popen([str(program), "--histories", str(histories)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = played.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Caught("-", f"did not end in {SECONDS} s")
    finally:
        kill_session(played.pid)  # histories are played in children
        played.wait()
    if played.returncode == 0:
        return None
    history = re.search(r"^history (\d+) of seed.*", output, re.MULTILINE)
    if history is None:  # no history differed; a count is too small, say
        return Caught("never", "MISSED: " + (output.strip().splitlines() or ["no output"])[-1])
    why = re.search(r"differs at tick [^:]*: (.*)|(crashed.*)", history[0])
    return Caught(str(int(history[1]) + 1), (why[1] or why[2]) if why else history[0])


def judge(ground: Ground, name: str, histories: int) -> Caught | None:
    """None: the fault was not caught."""
    with planted(ground, FAULTS[name].file, planted_text(name, FAULTS[name])) as change:
        program = change.link(PROGRAM) if change.compile() else None
        return play(program, histories) if program is not None else Caught("never", "does not compile")


def main() -> None:
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    check_places(FAULTS)
    ground = Ground(PROGRAM)
    caught = play(ground.objects / PROGRAM, histories)
    if caught is not None:
        sys.exit(f"the unchanged sources do not pass: {caught.why}")
    missed = 0
    print(f"{'fault':28} {'histories':>9}  first difference")
    print(f"{'none':28} {histories:>9}  nothing", flush=True)
    for name, caught in zip(FAULTS, each(list(FAULTS), lambda name: judge(ground, name, histories))):
        caught = caught or Caught("never", f"MISSED: {FAULTS[name].what}")
        missed += caught.after == "never"
        print(f"{name:28} {caught.after:>9}  {caught.why}", flush=True)
    sys.exit(1 if missed > 0 else 0)


if __name__ == "__main__":
    main()
