#!/usr/bin/env python3
"""Checks what documents say of the tree: check_documents.py [--write] [ROOT]. Prints file:line: rule: text.

  link     each link leads to a file, and to a heading of it if it names one
  path     each path of the tree is there (NAME in a path stands for any name)
  name     a place such as server/ticks.c:close_window names a word of that file
  headers  docs/ARCHITECTURE.md lists every public header
  stages   CONTRIBUTING.md names the stages of tests/run.sh
  promise  each row of docs/PROMISES.md names tests that exist
  counters docs/REPORT.md has the table of each list of counters; --write writes them
  lists    docs/TIMING.md has the tables of the window's keys and figures; --write writes them
"""
import glob
import os
import re
import sys

WRITES = "--write" in sys.argv[1:2]
ARGUMENTS = sys.argv[2 if WRITES else 1:]
ROOT = os.path.abspath(ARGUMENTS[0] if ARGUMENTS else os.path.join(os.path.dirname(__file__), ".."))
ROOMS = "include|common|proto|server|client|check|tests|deploy|examples|docs|cmake"
PROMISES = "docs/PROMISES.md"
problems = []


def report(path, line, rule, text):
    problems.append(f"{path}:{line}: {rule}: {text}")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def documents():
    """Paths from the root of all markdown files of the tree."""
    for directory, names, files in os.walk(ROOT):
        names[:] = sorted(n for n in names if n not in ("build", "corpus") and not n.startswith("."))
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(directory, name), ROOT)


def anchors(text):
    """The anchors of a page's headings, as forges make them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def check_links(path, number, line):
    for link in re.findall(r"\]\(([^)\s]+)\)", line):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(os.path.join(ROOT, target)):
            report(path, number, "link", f"{link} leads nowhere")
        elif anchor and target.endswith(".md") and anchor not in anchors(read(target)):
            report(path, number, "link", f"{target} has no heading {anchor}")


def check_paths(path, number, line):
    for name in re.findall(rf"(?<![\w./-])((?:{ROOMS})/[\w./*-]*\w)", line):
        if not glob.glob(os.path.join(ROOT, name.replace("NAME", "*") + "*")):
            report(path, number, "path", f"{name} is not there")


def check_names(path, number, line):
    for name, word in re.findall(rf"`((?:{ROOMS})/[\w./-]*\.[ch]):([a-z]\w*)`", line):
        if not os.path.exists(os.path.join(ROOT, name)) or not re.search(rf"\b{word}\b", read(name)):
            report(path, number, "name", f"{name} has no {word}")


def check_headers():
    page = "docs/ARCHITECTURE.md"
    text = read(page)
    for header in sorted(os.listdir(os.path.join(ROOT, "include/hindcast"))):
        if f"`{header}`" not in text:
            report(page, 1, "headers", f"{header} is not listed")


def check_stages():
    page = "CONTRIBUTING.md"
    stages = re.search(r'^all_stages="([^"]*)"', read("tests/run.sh"), re.M).group(1)
    if stages not in read(page):
        report(page, 1, "stages", f"the stages are: {stages}")


def shown(test):
    """Whether a test exists: `hc_attack ROW`, `FILE` or `FILE: sentence`, of a Check test with underscores."""
    row = re.fullmatch(r"hc_attack ([\w-]+)", test)
    if row:
        return f'{{"{row.group(1)}"' in read("tests/attack/hc_attack.c")
    path, _, sentence = test.partition(": ")
    path = path.split(" ")[-1]
    if not os.path.isfile(os.path.join(ROOT, path)):
        return False
    text = re.sub(r'"\s*\\?\s*"', "", read(path))
    return not sentence or sentence in text


def check_promises():
    for number, line in enumerate(read(PROMISES).split("\n"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or set(cells[1]) <= set("-: ") or number < 3:
            continue
        tests = re.findall(r"`([^`]+)`", cells[1])
        if not tests and cells[1] != "shown by":
            report(PROMISES, number, "promise", "no test shows it")
        for test in tests:
            if not shown(test):
                report(PROMISES, number, "promise", f"there is no test {test}")


# The kinds of counters (include/hindcast/counter.h), as they follow the unit in a table.
KINDS = {"SUM": "", "GAUGE": ", now", "MAX": ", most", "HISTOGRAM": ", histogram", "MEAN": ", mean",
         "CAUSES": ", by cause", "LEVEL": "", "LEVELS": ", by level", "FLAG": "true or false"}


def counter_lists():
    """The name of each list of counters, and its rows: (kind, unit, key, sentence)."""
    row = r'X\([\w.]+, (\w+), "([^"]*)", "([^"]*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)(?:,\s*(?:LESS|MORE))?\)'
    public = sorted(os.listdir(os.path.join(ROOT, "include/hindcast")))
    for header in ["include/hindcast/" + name for name in public] + \
            ["common/programs/daemon_counters.h", "client/bots/counters.h", "client/programs/counters.h"]:
        text = read(header)
        for name, body in re.findall(r"#define (HC_\w+_COUNTERS)\(X\)((?:.*\\\n)*.*)", text):
            rows = re.findall(row, body.replace("\\\n", "\n"))
            assert len(rows) == body.count("X("), f"{header}: {name}: a row that is not understood"
            yield name, [(*first, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))) for *first, text in rows]


def check_table(page, rule, name, lines):
    """Compares the table behind <!-- NAME --> with `lines`, which get its place in backquotes, if it has one."""
    text = read(page)
    table = re.search(rf"<!-- {name}(?: in `([\w.\[\]]*)`)? -->\n((?:\|.*\n)*)", text)
    if not table:
        report(page, 1, rule, f"{name} has no table")
        return
    right = "\n".join(lines(table.group(1) + "." if table.group(1) else "")) + "\n"
    if table.group(2) == right:
        return
    if not WRITES:
        report(page, text[:table.start()].count("\n") + 1, rule, f"the table of {name} differs: check_documents.py --write")
        return
    with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
        file.write(text[:table.start(2)] + right + text[table.end(2):])


def check_counters():
    for name, rows in counter_lists():
        check_table("docs/REPORT.md", "counters", name, lambda inside, rows=rows: [
            "| key | unit | meaning |", "|---|---|---|",
            *(f"| `{inside}{key}` | {unit}{KINDS[kind]} | {sentence} |" for kind, unit, key, sentence in rows)])


def check_lists():
    for header, name, heads in [("client/programs/window_keys.h", "HC_CL_WINDOW_KEYS", "| key | effect |"),
                                ("client/view/figures.h", "HC_CL_FIGURES", "| figure | meaning |")]:
        body = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", read(header)).group(1).replace("\\\n", "\n")
        rows = re.findall(r'X\(\w+,((?:\s*"[^"]*",?)+)\)', body)
        assert len(rows) == body.count("X("), f"{header}: {name}: a row that is not understood"
        cells = [re.sub(r'"\s*\n\s*"', "", row) for row in rows]
        cells = [re.findall(r'"([^"]*)"', row) for row in cells]
        check_table("docs/TIMING.md", "lists", name, lambda _, cells=cells, heads=heads: [
            heads, "|---|---|", *(f"| {row[0]} | {row[-1]} |" for row in cells)])


def events():
    """The events of the daemon's log, by the calls that write them."""
    word = r'"([a-z]+(?:-[a-z]+)*)"'
    calls = [r"HC_SV_LOG_[A-Z]+,\s*(?:\w+ \? )?" + word + "(?: : " + word + ")?",
             r"log_unread\(\w+,\s*(?:[\w ]+== \w+ \? )?" + word + "(?: : " + word + ")?",
             r"event = [^;\"]*" + word + r"\s*: " + word, r"log_fault\(match, " + word,
             r"names\[HC_SERVER_EVENT_KINDS\] = \{\s*" + r",\s*".join([word] * 7)]
    folder = os.path.join(ROOT, "server/daemon")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".c"):
            for call in calls:
                for found in re.findall(call, read("server/daemon/" + name)):
                    yield from filter(None, [found] if isinstance(found, str) else found)


def check_events():
    """OPERATING.md has each event of the log, and no other."""
    page = "docs/OPERATING.md"
    logged, named = set(events()), set()
    for line in re.findall(r"^\| (?:error|warn|info|debug) \| ([^|]*)", read(page), re.M):
        named |= set(re.findall(r"`([a-z-]+)`", line))
    for event in sorted(logged ^ named):
        report(page, 1, "event", f"{event} is {'not in its table' if event in logged else 'no event of the log'}")
    if len(logged) < 40:
        report(page, 1, "event", f"only {len(logged)} events are found in server/daemon")


def main():
    count = 0
    check_counters()
    check_lists()
    check_events()
    for path in documents():
        count += 1
        for number, line in enumerate(read(path).split("\n"), 1):
            check_links(path, number, line)
            check_paths(path, number, line)
            check_names(path, number, line)
    check_headers()
    check_stages()
    if os.path.exists(os.path.join(ROOT, PROMISES)):
        check_promises()
    for problem in problems:
        print(problem)
    print(f"{count} documents, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
