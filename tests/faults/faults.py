#!/usr/bin/env python3
"""Planted faults: each breaks one rule of the timeline, and the exactness program must see it.

    faults.py list             the names, one a line
    faults.py file NAME        the file that the fault is in
    faults.py what NAME        the rule that it breaks
    faults.py apply NAME DIR   plants it into the copy of the sources in DIR

A fault is a piece of source text that occurs exactly once in its file, and what to put in its
place. When the source changes so that the text is gone, `apply` fails and names the fault: write
it anew, do not drop it.
"""

import sys
from pathlib import Path
from typing import NamedTuple


class Fault(NamedTuple):
    file: str
    what: str
    find: str
    replace: str


TIMELINE = "common/timeline.c"
INPUTS = "common/inputs.c"

FAULTS = {
    "old-position": Fault(
        TIMELINE,
        "who was near the old position is not stepped again",
        "    if (had)\n        mark_near(tl, tick, from, entity);\n",
        "",
    ),
    "new-position": Fault(
        TIMELINE,
        "who is near the new position is not stepped again",
        "        mark_near(tl, tick, to, entity);\n",
        "        (void)to;\n",
    ),
    "owner": Fault(
        TIMELINE,
        "what has the same owner is not stepped again",
        "        mark_owned(tl, tick, world->owner_of[entity]);\n",
        "        (void)tick;\n",
    ),
    "referee-readers": Fault(
        TIMELINE,
        "readers of a changed group of the referee are not stepped again",
        "        mark_readers(tl, tick, was == is ? changed_groups(tl, old, new) : UINT8_MAX);\n",
        "        (void)mark_readers, (void)changed_groups;\n",
    ),
    "referee-reads": Fault(
        TIMELINE,
        "a changed reduction does not step the referee again",
        "    memcpy(reductions_at(tl, tick), fresh, bytes);\n    mark(tl, tick, HC_REFEREE);\n",
        "    memcpy(reductions_at(tl, tick), fresh, bytes);\n",
    ),
    "referee-held": Fault(
        TIMELINE,
        "the last player's becoming known does not step the referee again",
        "    if ((was == HC_UNKNOWN) != (is == HC_UNKNOWN))\n        mark(tl, tick, HC_REFEREE);\n",
        "",
    ),
    "index": Fault(
        TIMELINE,
        "the index of a tick is not patched when a state in it changes",
        "    patch_grid(tl, tick, entity, had, from, has, to);\n",
        "",
    ),
    "neighbour-order": Fault(
        TIMELINE,
        "neighbours come in the order of the index",
        "        sort_near(tl);\n",
        "        (void)sort_near;\n",
    ),
    "pin-overwritten": Fault(
        TIMELINE,
        "a change from before overwrites a pin",
        "    if (pinned(tl, scene->tick + 1, entity))\n        return;\n",
        "    (void)pinned;\n",
    ),
    "older-as-of": Fault(
        TIMELINE,
        "a state of an older as_of replaces a newer one",
        "        if (*pin != HC_NO_TICK && *pin >= as_of)\n            continue;\n",
        "",
    ),
    "pin-outlives-tick": Fault(
        TIMELINE,
        "a pin stays in the ring for the tick that takes its slot",
        "    for (uint32_t e = 0; tl->config.follower && e < entities; e++)\n"
        "        *pin_at(tl, tick, (hc_entity)e) = HC_NO_TICK;\n",
        "    for (uint32_t e = 0; tl->config.follower && tick < slots(tl) && e < entities; e++)\n"
        "        *pin_at(tl, tick, (hc_entity)e) = HC_NO_TICK;\n",
    ),
    "before-restart": Fault(
        TIMELINE,
        "ticks from before a restart are stepped again",
        "    return tick >= tl->oldest && tick < tl->head;\n",
        "    return tick < tl->head;\n",
    ),
    "control-unread": Fault(
        TIMELINE,
        "a control that comes late does not step its player again",
        "        mark_owned(tl, tick, player);\n    return status;\n",
        "        (void)mark_owned;\n    return status;\n",
    ),
    "no-new-prediction": Fault(
        INPUTS,
        "a late input changes its own slot only, not what is predicted from it",
        "        if (t > from && (has_base(in, cell)",
        "        if (t >= from || (has_base(in, cell)",
    ),
    "equals-prediction": Fault(
        INPUTS,
        "a late input that equals its prediction renews nothing, not even its age",
        "    refresh(in, player, tick);\n    if (!in->follower)\n        renew_complete(in, player);\n",
        "    if (tick >= in->head ||\n"
        "        memcmp(in->effective + cell * input_size(in), input, input_size(in)) != 0)\n"
        "        refresh(in, player, tick);\n"
        "    if (!in->follower)\n        renew_complete(in, player);\n",
    ),
    "base-across-join": Fault(
        INPUTS,
        "a prediction starts from an input of before the join",
        "    if (in->control[cell] != HC_CONTROL_NONE)\n        return HC_NO_TICK;\n"
        "    return has_base",
        "    if (in->control[cell] == HC_CONTROL_LEAVE)\n        return HC_NO_TICK;\n"
        "    return has_base",
    ),
    "base-across-leave": Fault(
        INPUTS,
        "a prediction starts from an input of before the leave",
        "    if (in->control[cell] != HC_CONTROL_NONE)\n        return HC_NO_TICK;\n"
        "    return has_base",
        "    if (in->control[cell] == HC_CONTROL_JOIN)\n        return HC_NO_TICK;\n"
        "    return has_base",
    ),
    "forced-is-base": Fault(
        INPUTS,
        "predictions start from what was forced",
        "    return in->slot[cell] == HC_SLOT_KNOWN && ",
        "    if (in->slot[cell] == HC_SLOT_FORCED)\n"
        "        memcpy(in->known + cell * input_size(in), in->effective + cell * input_size(in),\n"
        "               input_size(in));\n"
        "    return (in->slot[cell] == HC_SLOT_KNOWN || in->slot[cell] == HC_SLOT_FORCED) &&\n"
        "           ",
    ),
    "base-leaves-ring": Fault(
        INPUTS,
        "a prediction base is forgotten when its slot leaves the ring",
        "    in->left_base[player] = base;\n",
        "    in->left_base[player] = HC_NO_TICK;\n",
    ),
}


def plant(name: str, directory: Path) -> None:
    fault = FAULTS[name]
    path = directory / fault.file
    text = path.read_text(encoding="utf-8")
    found = text.count(fault.find)
    if found != 1:
        sys.exit(f"{name}: its text occurs {found} times in {fault.file}, not once:\n{fault.find}")
    path.write_text(text.replace(fault.find, fault.replace), encoding="utf-8")


def main() -> None:
    match sys.argv[1:]:
        case ["list"]:
            print("\n".join(FAULTS))
        case ["file", name] if name in FAULTS:
            print(FAULTS[name].file)
        case ["what", name] if name in FAULTS:
            print(FAULTS[name].what)
        case ["apply", name, directory] if name in FAULTS:
            plant(name, Path(directory))
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main()
