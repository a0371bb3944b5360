#!/usr/bin/env python3
"""Checks what the compiler cannot: python3 tests/check_source.py [ROOT]. Prints file:line: rule: text."""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
ARENA = r"common/arena/|include/hindcast/arena\.h"
LINES_MAX, DOCUMENT_MAX, FUNCTION_MAX, PARAMETERS_MAX = 800, 1500, 70, 7

# Every room is a folder, and may include itself and these; tests/ and deploy/ may include any.
ROOMS = {
    "include/hindcast": (),
    "common": ("include/hindcast",),
    "common/arena": ("include/hindcast", "common"),
    "common/programs": ("include/hindcast", "common"),
    "proto": ("include/hindcast", "common"),
    "server/replication": ("include/hindcast", "common", "proto"),
    "server": ("include/hindcast", "common", "proto", "server/replication"),
    "server/matches": ("include/hindcast", "common", "proto", "server"),
    "server/daemon": ("include/hindcast", "common", "common/arena", "common/programs", "proto",
                      "server/matches"),
    "client/link": ("include/hindcast", "common", "proto"),
    "client/world": ("include/hindcast", "common", "proto"),
    "client": ("include/hindcast", "common", "proto", "client/link", "client/world"),
    "check": ("include/hindcast", "common", "common/programs"),
    "client/programs": ("include/hindcast", "common", "common/programs", "proto", "client"),
    "client/bots": ("include/hindcast", "common", "common/programs", "proto", "client", "client/programs"),
    "client/view": ("include/hindcast", "common", "common/arena", "common/programs", "proto", "client",
                    "client/programs"),
    "web/crypto": (),
    "web/system": ("include/hindcast", "web/crypto"),
    "web": ("include/hindcast", "common/programs", "client", "client/view"),
}
# The rooms of the programs use the operating system; all others are cores, which do no I/O.
PROGRAMS = ("common/programs", "server/daemon", "client/programs", "client/bots", "client/view", "check", "web",
            "web/system")
# The prefixes of public names.
PREFIX = {"include": "hc_", "common": "hc_", "proto": "hc_", "server": "hc_sv_", "client": "hc_cl_|hc_client_", "check": "hc_ck_|hc_plain_|hc_history_",
          "web": "hc_web_|crypto_|sodium_|randombytes_"}
# Headers of the outside world that a core may include: no clock, socket, signal, thread or event library.
CORE_HEADERS = re.compile(
    r"(assert|inttypes|limits|std(align|arg|bool|def|int|io|lib|noreturn)|string)\.h$"
    r"|(msgpack(/.*)?|sodium|xxhash)(\.h)?$")

# (rule, pattern, where it is banned, files that are exempt); "call" patterns are bare function names.
CORES = lambda f: f.core
PURE = lambda f: f.core or (f.top == "tests" and f.part in ("unit", "scenario", "sim")
                            and "udp" not in f.stem)
EVERYWHERE = lambda f: True
# The public headers that no step includes: what they show is drawn, never simulated.
DRAWS = ("include/hindcast/client.h", "include/hindcast/drawing.h")
CALLS = [
    ("unbounded", "strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok", EVERYWHERE, ()),
    ("randomness", "rand|srand|random|srandom|drand48|randombytes_buf|getrandom", PURE, ("client/link/entropy.c", "server/host.c")),
    ("clock", "clock|clock_gettime|time|gettimeofday|timespec_get|times|sleep|usleep|nanosleep", PURE, ()),
    ("allocation", "malloc|calloc|realloc|free|strdup|strndup|asprintf", CORES, ("common/alloc.c",)),
    ("process", "exit|_Exit|abort|getenv|system|signal|atexit|setlocale", CORES, ("common/check.c",)),
]
# A time on the left of a subtraction: `now`, or a name that ends in its unit. common/elapsed.h subtracts times.
TIME = r"((?<![\w.>])now|(?<!per)_(us|ms|s))(\(\w*\)|\[\w*\])?\)*"
WORDS = [
    ("errno", r"\berrno\b", CORES),
    ("feature macro", r"#\s*define\s+_(GNU_SOURCE|POSIX_C_SOURCE|DEFAULT_SOURCE|XOPEN_SOURCE)", CORES),
    ("float", r"\b(float|double)\b", lambda f: f.top in ("include", "common") and f.core and f.path not in DRAWS),
    ("time subtraction", TIME + r" -=?( |$)| - (now|(\w+(->|\.))*now_(us|ms|s))\b",
     lambda f: f.folder in ROOMS and f.path != "common/elapsed.h"),
    ("assert", r"\bassert\s*\(|\bNDEBUG\b", lambda f: f.folder in ROOMS),
]
# Words that docs/GLOSSARY.md replaces, as parts of identifiers. The names of storm's keys stay: they
# decide what a seed draws.
OLD_WORDS = frozenset("""crew deeds follower guess guessed guesses hear heard hears heir hurry intake judged ledger
    looked making memo met news outworn party puppet said says shake shook slack solo tell tells told
    unheard whom yard""".split())
# How a member's comment does not begin: it says the field first, and stands alone.
LEANING = re.compile(r"(and|they|the same|it|or|but)\b|\.\.\.", re.I)
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
TEXT_FILES = (".c", ".h", ".md", ".txt", ".cmake", ".py", ".sh", ".json", ".yml", ".service")

problems = []


def report(file, line, rule, text):
    problems.append(f"{file.path}:{line}: {rule}: {text}")


class File:
    def __init__(self, path):
        self.path = path
        parts = path.split("/")
        self.folder, self.top = "/".join(parts[:-1]), parts[0]
        self.part = parts[1] if len(parts) > 2 else ""
        self.stem = parts[-1].rsplit(".", 1)[0]
        self.header = path.endswith(".h")
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            self.text = source.read()
        self.lines = self.text.split("\n")
        self.core = self.folder in ROOMS and self.folder not in PROGRAMS
        self.code = blank(self.text).split("\n") if path.endswith((".c", ".h")) else []


def blank(text):
    """`text` with comments and the insides of literals replaced by blanks, line numbers kept."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def hide(match):
        found = match.group(0)
        if text[text.rfind("\n", 0, match.start()) + 1:match.start()].lstrip().startswith("#include"):
            return found
        return re.sub(r"[^\n]", " ", found) if found[0] == "/" else '""' + " " * (len(found) - 2)

    return token.sub(hide, text)


def check_text(file):
    most = DOCUMENT_MAX if file.path.endswith((".md", ".json")) else LINES_MAX
    if len(file.lines) - 1 > most:
        report(file, most, "length", f"{len(file.lines) - 1} lines; at most {most}")
    for number, line in enumerate(file.lines, 1):
        if UNFINISHED.search(line):
            report(file, number, "unfinished", line.strip())


def check_room(file):
    if file.code and file.top in PREFIX and file.folder not in ROOMS:
        report(file, 1, "room", f"{file.folder}/ is no room of the table")


def check_includes(file):
    for number, line in enumerate(file.code, 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)', line)
        if not match:
            continue
        quote, name = match.groups()
        if name.startswith("hindcast/"):
            name = "include/" + name
        target = name.rsplit("/", 1)[0]
        if file.top == "examples":  # built outside of the sources: its own folder, and <hindcast/...>
            name = file.folder + "/" + name
        if quote == "<":
            if file.core and not CORE_HEADERS.match(name):
                report(file, number, "core include", f"<{name}> in a core, which does no I/O")
        elif not os.path.exists(os.path.join(ROOT, name)):
            report(file, number, "include path", f'"{name}" is not a path from the root or from include/')
        elif file.folder in ROOMS and target != file.folder and target not in ROOMS[file.folder]:
            report(file, number, "include direction", f"{file.folder}/ may not include {target}/")
        elif file.core and re.match(ARENA, name) and not re.match(ARENA, file.path):
            report(file, number, "include direction", "a core knows no particular game")


def check_words(file):
    rules = [(rule, r"(?<![\w.>])(" + names + r")\s*\(", where, exempt) for rule, names, where, exempt in CALLS]
    rules += [(rule, pattern, where, ()) for rule, pattern, where in WORDS]
    for rule, pattern, where, exempt in rules:
        if not where(file) or file.path in exempt:
            continue
        for number, line in enumerate(file.code, 1):
            if re.search(pattern, line):
                report(file, number, rule, line.strip())


def check_identifiers(file):
    if file.path == "tests/storm/plan.h":
        return
    for number, line in enumerate(file.code, 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            old = OLD_WORDS & set(name.lower().split("_"))
            if old and not name.startswith("STORM_"):
                report(file, number, "word", f"{name}: docs/GLOSSARY.md has another word for {min(old)}")


def definitions(files):
    """The functions that the files of rooms define for others, by names of their own: name -> path."""
    function = re.compile(r"^((?:\w+[\s*]+)+)(\w+)\([^;{}]*\)\s*\{", re.M)
    found = {}
    for file in files:
        for match in function.finditer("\n".join(file.code)) if not file.header else ():
            if not re.search(r"\b(static|else|return)\b", match.group(1)) and re.match(PREFIX[file.top], match.group(2)):
                found[match.group(2)] = file.path
    return found


def above(room):
    """The rooms that may include `room`, directly or not."""
    rooms = {upper for upper, lower in ROOMS.items() if room in lower}
    while more := {upper for upper, lower in ROOMS.items() if rooms & set(lower)} - rooms:
        rooms |= more
    return rooms


def arrows(files):
    """path -> {path: line}: the file includes the other, or uses a function that the other defines."""
    homes, found = definitions(files), {}
    for file in files:
        mine = found[file.path] = {}
        for number, line in enumerate(file.code, 1):
            included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            names = [] if file.header else re.findall(r"(?<!struct )(?<!enum )\b\w+", line)
            for other in [included.group(1)] if included else [homes[name] for name in names if name in homes]:
                mine.setdefault(("include/" if other.startswith("hindcast/") else "") + other, number)
        mine.pop(file.path, None)
    return found


def circles(graph):
    """The strongly connected sets of two or more nodes (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def way_back(graph, circle):
    """A shortest way around a circle from its first file."""
    start = min(circle)
    ways = [[start]]
    for way in ways:
        for other in sorted(graph[way[-1]]):
            if other == start:
                return way + [start]
            if other in circle and other not in way:
                ways.append(way + [other])


def check_order(files):
    """Within a room no circle of files, and between rooms no arrow upwards."""
    files = {file.path: file for file in files if file.folder in ROOMS and file.code}
    graph = arrows(files.values())
    for path, file in files.items():
        for other, number in graph[path].items():
            if other in files and files[other].folder in above(file.folder):
                report(file, number, "arrow upwards", f"{file.folder}/ uses {other}")
    within = {path: {other for other in others if other in files and files[other].folder == files[path].folder}
              for path, others in graph.items()}
    for circle in circles(within):
        way = way_back(within, circle)
        report(files[way[0]], graph[way[0]][way[1]], "circle", f"{len(circle)} files, {' '.join(sorted(circle))}; "
               f"such as {' -> '.join(way)}")


def check_walks():
    """Each `file.c:function` of the architecture is there."""
    class Page:
        path = "docs/ARCHITECTURE.md"
    with open(os.path.join(ROOT, Page.path), encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            for source, function in re.findall(r"`((?:\w+/)+\w+\.c):(\w+)", line):
                path = os.path.join(ROOT, source)
                text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
                if not re.search(rf"\b{function}\(", text):
                    report(Page, number, "walk", f"{source} has no {function}")


def check_functions(file):
    start = None
    for number, line in enumerate(file.code, 1):
        if re.match(r"[A-Za-z_].*\(", line) and not line.endswith(";"):
            start = number
        elif line == "}" and start is not None:
            if number - start + 1 > FUNCTION_MAX and file.top != "tests":
                report(file, start, "function length", f"{number - start + 1} lines; at most {FUNCTION_MAX}")
            start = None
        elif line.startswith("}") or line.endswith(";") and not line.startswith(" "):
            start = None


def check_parameters(file):
    for found in re.finditer(r"^[A-Za-z_][\w *]*\b(\w+)\(([^;{}]*?)\)\s*[{;]", "\n".join(file.code), re.M):
        count = 1 + re.sub(r"\([^()]*\)", "", found[2]).count(",")
        if count > PARAMETERS_MAX:
            line = found.string.count("\n", 0, found.start()) + 1
            report(file, line, "parameters", f"{found[1]} has {count}; at most {PARAMETERS_MAX}")


def check_subjects(file):
    for number, line in enumerate(file.lines, 1):
        if re.match(r"\s*/// (What|Who|Of which)\b", line):
            report(file, number, "subject", f"a sentence begins with its thing or agent: {line.strip()}")


def check_members(file):
    """A member's or enumerator's comment, which may go on in the next lines, stands alone."""
    start, text = None, ""
    for number, line in enumerate(file.lines + [""], 1):
        declaration, comment, rest = line.partition("///<")
        if start is not None and (not comment or declaration.strip()):
            if LEANING.match(text) or text.endswith((",", "...")):
                report(file, start, "member comment", f"begins or ends amid a sentence: {text}")
            start = None
        if comment and start is None:
            start, text = number, rest.strip()
        elif comment:
            text += " " + rest.strip()


def check_header(file):
    if not file.lines[0].startswith("/// "):
        report(file, 1, "first line", "a header begins with `/// ` and what it owns")
    if "#pragma once" not in file.lines:
        report(file, 1, "guard", "#pragma once is missing")
    if file.top != "include":
        for number, code in enumerate(file.code, 1):
            if re.search(r"\bHC_API\b", code):
                report(file, number, "public", "the library shows what include/ declares, nothing else")
    # A comment is of the one declaration that follows it without a gap.
    covered = False
    for number, (line, code) in enumerate(zip(file.lines, file.code), 1):
        if not line.strip():
            covered = False
        elif line.startswith("///"):
            covered = True
        match = re.match(r"(?!typedef|#)[A-Za-z_][\w\s*]*?\b(\w+)\(", code)
        if not match or "=" in code.split("(")[0] or match.group(1) == "_Static_assert":
            continue
        name = match.group(1)
        if not covered:
            report(file, number, "doc comment", f"{name} has no /// comment of its own")
        covered = False
        if not re.match(PREFIX[file.top], name):
            report(file, number, "name", f"{name}: public names of {file.top}/ begin with {PREFIX[file.top]}")


def main():
    files = []
    for directory, names, found in os.walk(ROOT):
        names[:] = sorted(n for n in names if n not in ("build", "corpus") and (not n.startswith(".") or n == ".ci"))
        for name in sorted(found):
            path = os.path.relpath(os.path.join(directory, name), ROOT)
            if not name.endswith(TEXT_FILES):
                continue
            file = File(path)
            files.append(file)
            check_text(file)
            check_room(file)
            if file.code:
                check_includes(file)
                check_words(file)
                check_identifiers(file)
                check_functions(file)
                check_parameters(file)
                check_members(file)
                check_subjects(file)
                if file.header and file.folder in ROOMS:
                    check_header(file)
    check_walks()
    check_order(files)
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
