"""Runs hindcast-check on broken games, whose faults it must find, and on good ones: run.py LIMIT_S HISTORIES PROGRAM GAME..."""
import os, re, resource, shlex, subprocess, sys

limit_s, histories, program, games = float(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
failed = []


def run(*arguments):
    """The exit status, the output, and the processor time of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(name, good, text):
    if not good:
        failed.append(name)
        print("FAILED", name, "\n" + text)


NOTES = ["note: no history emits the event whistle", "note: no history ends a round: round_over is never true"]
# The kinds of the games that are not named after theirs.
KINDS = {"read": "input group past lookback forbidden reduction", "crash": "exit loop over deep begin",
         "secret": "spawn chance", "write": "mark", "hides": "beyond", "emit": "number", "range": "narrow",
         "variable": "rare table frequent"}
# Parts of the sentences. Without debug information a place is a function that the compiler has not merged.
PLACE = r"%s.*, in (%s \(%s:\d+\)|\w+ \(%s\.so\+0x[0-9a-f]+\))$"
SENTENCES = {"broken_emit": "more events than events_max of the kind ball, which is 1",
             "broken_number": "an event that event_kinds does not have",
             "broken_rare": "a variable, calls (4 bytes, broken_rare.c",
             "broken_table": "a variable, roots (2048 bytes, broken_table.c",
             "broken_frequent": "a variable, kept (4 bytes, broken_frequent.c",
             "broken_narrow": "field score is 1024, which does not fit 10 bits",
             "broken_reduction": "the step reads a reduction that the game does not have: there are 1"}
# Of a crash also the function, and the file of its line.
CRASHES = {"broken_crash": ("the step ends by signal 11", "tag_step_player", "tag.h"),
           "broken_deep": ("the step ends by signal 11", "dig", "broken_deep.c"),
           "broken_loop": (r"tick \d+, entity \d+ \(ball\): the step does not return", "tag_step_ball", "tag.h"),
           "broken_begin": (r"tick 0, entity \d+ \(ball\): start does not return", "tag_start", r"\w+.[ch]"),
           "broken_over": ("round_over ends by signal 11", "is_over", "broken_over.c"),
           "broken_forbidden": (r"the step fails a check, scene.h:\d+: hc_scene_may_read", "tag_step_player", "tag.h")}
# What no history reaches: in histories of so many ticks, random inputs end no round of duel.
LONG, UNREACHED = 5100, {"duel": NOTES[1:]}


def notes(output):
    return [line for line in output.split("\n") if line.startswith("note: ")]


def placeless(text):
    """Without lines and addresses: where a stack ends depends on the process."""
    return re.sub(r"(\.[ch]:\d+|\+0x[0-9a-f]+)\)", ")", text)


for game in games:
    name = os.path.splitext(os.path.basename(game))[0]
    plugin = ["--game", game] if game != "arena" else []
    status, output, took_s = run(*plugin, "--histories", histories)
    kind = name.removeprefix("broken_") if name.startswith("broken_") else None
    if kind is None:
        check(name, status == 0 and output.startswith("OK: no fault: "), output)
        print("%-18s no fault, %4.1f s" % (name, took_s))
        check(name + " has notes", name != "good_late" or notes(output) == NOTES, output)
        status, output, _ = run(*plugin, "--histories", "1", "--ticks", str(LONG))
        check(name + " in a long history", status == 0 and f" of {LONG} to {LONG} ticks " in output and
              notes(output) == UNREACHED.get(name, []), output)
        continue
    kind = next((k for k, names in KINDS.items() if kind in names.split()), kind)
    found = re.findall(r"^%s: (.*)\. Repeat: hindcast-check (.*)$" % kind, output, re.M)
    check(name, status == 1 and found and took_s <= limit_s, output)
    if found:
        text, command = found[0]
        print("%-18s %4.1f s, %s" % (name, took_s, text))
        check(name + " says what is wrong", SENTENCES.get(name, "") in text, text)
        check(name + " says where", name not in CRASHES or re.search(PLACE % (*CRASHES[name], name), text), text)
        check(name + " has one sentence", name not in CRASHES or output.count(". Repeat: ") == 1, output)
        for line in re.findall(r"^.*\. Repeat: .*$", output, re.M):
            again = run(*shlex.split(line.split(". Repeat: hindcast-check ")[1]))[1]
            check(name + " again", placeless(line) in placeless(again).split("\n"), line + "\n" + again)
        # What a variable does is blamed on nothing else.
        check(name + " has a variable", "\nvariable: " not in "\n" + output or
              not re.search(r"^(unwritten|read|secret|run|spread): ", output, re.M), output)
        if name == "broken_range": # a command repeats histories of the same length
            check(name + " in short histories", f"{command} --ticks 50\n" in run(*plugin, "--ticks", "50")[1], again)
print("%d games, %d failures" % (len(games), len(failed)))
sys.exit(bool(failed) or len(games) < 14)
