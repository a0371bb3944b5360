#!/usr/bin/env python3
"""Reads a trace (Trace Event Format, an array of events).

usage: trace.py FILE PROGRAM [EXPRESSION]...

Checks what viewers demand: the file is JSON, also after an early end; events are those that docs/TRACING.md lists for
the program; each track has a name; on each track times ascend, spans lie within each other, and moments within spans.
The expressions are Python, with `all` the events by name, `args` their arguments by name, and `inside(INNER, OUTER)`,
which counts the events of one name that lie within one of the other.
"""
import collections
import json
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/TRACING.md")
KEYS = {"X": {"name", "ph", "pid", "tid", "ts", "dur"}, "i": {"name", "ph", "pid", "tid", "ts", "s"},
        "M": {"name", "ph", "pid", "tid", "args"}}


def documented(program):
    """The names of the events of a program, each with its arguments, by the table of the page."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    table = re.search(rf"^#+ `{program}`\n(.*?)(?=^#|\Z)", page, re.S | re.M).group(1)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n") if line.startswith("| `")]
    return {re.fullmatch(r"`(.*)`", row[0]).group(1): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text), True
    except ValueError:  # viewers read it all the same
        return json.loads(text[:text.rindex("\n")].rstrip(",\n") + "\n]"), False


def check(events, names):
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    newest, opened = {}, collections.defaultdict(list)
    for event in events:
        kind = event["ph"]
        assert set(event) - {"args"} == KEYS[kind] - {"args"}, f"keys: {event}"
        assert event["pid"] == 1 and event["tid"] in named | {0}, f"track: {event}"
        if kind == "M":
            continue
        name, track, begin, arguments = event["name"], event["tid"], event["ts"], event.get("args", {})
        assert name == "dropped" or name in names, f"no such event in {PAGE}: {name}"
        assert name == "dropped" or set(arguments) <= names[name], f"arguments: {event}"
        assert begin >= newest.get(track, 0), f"goes back: {event}"
        newest[track] = begin
        stack = opened[track]
        while stack and stack[-1]["ts"] + stack[-1]["dur"] <= begin and not (kind == "i" and name == "dropped"):
            stack.pop()
        if kind == "X":
            assert not stack or begin + event["dur"] <= stack[-1]["ts"] + stack[-1]["dur"] + 0.001, \
                f"crosses {stack[-1]}: {event}"
            stack.append(event)
        elif name != "dropped":
            assert stack, f"in no span: {event}"


def inside(spans, inner, outer):
    return sum(any(o["tid"] == i["tid"] and o["ts"] <= i["ts"] <= o["ts"] + o["dur"] for o in spans[outer])
               for i in spans[inner])


def main():
    events, is_whole = read(sys.argv[1])
    check(events, documented(sys.argv[2]))
    by_name = collections.defaultdict(list)
    for event in events:
        by_name[event["name"]].append(event)
    known = {"all": by_name, "whole": is_whole, "inside": lambda i, o: inside(by_name, i, o),
             "args": {name: [event.get("args", {}) for event in found] for name, found in by_name.items()}}
    print({name: len(found) for name, found in by_name.items()})
    for expression in sys.argv[3:]:
        if not eval(expression, {**known, "any": any, "sum": sum}):  # `all` is the events
            sys.exit(f"not so: {expression}")


if __name__ == "__main__":
    main()
