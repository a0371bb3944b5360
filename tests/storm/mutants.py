#!/usr/bin/env python3
"""Makes small mechanical changes to the sources, one at a time, and has hc_storm find them.

    mutants.py [--count N] [--seed N] [--seeds N] [--aim PERCENT] [--results FILE] [--only PLACE]

Draws `count` mutants (100) from `seed` (1) and plays at most `seeds` seeds (500) with each, up to
the first that fails: the mutant is killed then, also by a crash or an endless match. A mutant that
does not compile, or compiles to the same program, is drawn anew. Prints each mutant and its
killer, or how many seeds it survived in another way. (survivors.md lists harmless survivors.)

With `only`, a file or file:line, all that there are at that place are played instead of `count`.

`results` (build/mutants.json) holds the outcomes, which are not played again while the sources stay
the same. Exit status 0 only if at least `aim` percent (85) were killed.
"""

import argparse
import hashlib
import json
import random
import re
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from hunt import hunt, processes  # noqa: E402
from planting import PROCESSORS, ROOT, Ground, on_grounds, sources_digest  # noqa: E402

FILES = ("common/timeline.c", "common/inputs.c", "common/grid.c", "server/host.c", "server/handshake.c",
         "server/receive.c", "server/peer.c", "server/replication/snapshot.c", "server/replication/selection.c",
         "server/replication/corrections.c", "server/replication/builder.c", "server/replication/roster.c", "server/replication/forced.c",
         "server/replication/client.c", "server/replication/replicator.c", "server/replication/sent_log.c",
         "server/replication/sent_values.c", "server/replication/delta_cache.c", "server/replication/interest.c", "server/replication/bandwidth.c",
         "server/replication/priority.c", "server/replication/pinned_values.c", "server/replication/encode.c", "server/path.c", "server/send.c",
         "client/snapshot_reader.c", "client/baselines.c",
         "client/session.c", "client/handshake.c", "client/receive.c", "client/predict.c", "client/send.c", "client/clock.c", "client/interpolation.c", "common/extrapolate.c", "proto/delta.c",
         "proto/fields.c", "proto/value.c", "proto/snapshot.c", "proto/message.c", "proto/ack.c", "proto/connection.c",
         "proto/input_run.c", "proto/datagram.c")

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>\d[\w.]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# Statements of these are left alone: they check, count marks or work at compile time.
CHECKS = {"HC_ASSERT", "HC_CHECK", "HC_MARK", "_Static_assert"}
OTHER_WAY = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="),
             "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",)}
TICK = re.compile(r"tick|head|first|last|oldest|newest|earliest|from|to|base|before|end|as_of|"
                  r"inputs_through|final|wanted|next|late_limit|t$")
ASSIGN = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}
KEYWORDS = {"return", "if", "for", "while", "switch", "case", "break", "continue", "goto", "else",
            "do", "default", "static", "const", "struct", "enum", "union", "sizeof", "typedef"}


class Mutant(NamedTuple):
    kind: str
    file: str
    at: int  # in the file's text
    find: str
    replace: str

    def apply(self, text: str) -> str:
        return text[: self.at] + self.replace + text[self.at + len(self.find):]

    def place(self) -> str:
        text = (ROOT / self.file).read_text(encoding="utf-8")
        return f"{self.file}:{text.count(chr(10), 0, self.at) + 1}"

    def edit(self) -> str:
        text = (ROOT / self.file).read_text(encoding="utf-8")
        find = " ".join(self.find.split())
        if len(find) > 3:
            return f"{find}  ->  {self.replace}"
        line = text[text.rfind("\n", 0, self.at) + 1: text.find("\n", self.at)].strip()
        return f"{find}  ->  {self.replace}  in  {line}"


class Token(NamedTuple):
    kind: str
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    found = (Token(m.lastgroup or "", m[0], m.start()) for m in TOKEN.finditer(text))
    return [token for token in found if token.kind != "skip"]


def statements_of(tokens: list[Token]):
    """Runs of tokens between the braces and semicolons of function bodies; what is in parentheses
    stays together. A prefix such as `if (...)` or `else` is a run of its own."""
    depth = braces = start = 0
    for i, token in enumerate(tokens):
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if depth > 0 or token.kind != "sign" and token.text != "else":
            continue
        if token.text in "{};" or token.text == "else":
            if braces > 0 and i > start:
                yield tokens[start: i + 1]
            braces += (token.text == "{") - (token.text == "}")
            start = i + 1
        elif token.text == ")" and tokens[start].text in ("if", "for", "while", "switch"):
            if braces > 0:
                yield tokens[start: i + 1]
            start = i + 1


def whole(kind: str, file: str, text: str, run: list[Token]) -> Mutant:
    return Mutant(kind, file, run[0].at, text[run[0].at: run[-1].at + 1], ";")


def dropped(file: str, text: str, run: list[Token]):
    """A statement that is a call or an assignment, left out."""
    names = [token.text for token in run]
    if names[-1] != ";" or run[0].kind != "name" and names[0] not in ("*", "++", "--"):
        return
    if names[0] in KEYWORDS or len(run) > 1 and run[0].kind == run[1].kind == "name":
        return
    depth, assigns = 0, False
    for name in names:
        depth += (name in "([") - (name in ")]")
        assigns |= depth == 0 and name in ASSIGN
    if assigns:
        yield whole("assignment", file, text, run)
    elif len(run) > 2 and names[1] == "(" and names[-2] == ")":
        yield whole("call", file, text, run)


def within(file: str, run: list[Token]):
    """One token of a statement, changed."""
    for i, token in enumerate(run):
        before = run[i - 1].text if i > 0 else ""
        after = run[i + 1].text if i + 1 < len(run) else ""
        if token.text in OTHER_WAY:
            kind = "logic" if token.text in ("&&", "||") else "comparison"
            for other in OTHER_WAY[token.text]:
                yield Mutant(kind, file, token.at, token.text, other)
        elif token.kind == "number" and re.fullmatch(r"\d+u?", token.text):
            value = int(token.text.rstrip("u"))
            for other in {value + 1, max(value - 1, 0)} - {value}:
                yield Mutant("constant", file, token.at, token.text, str(other))
        elif (token.kind == "name" and TICK.search(token.text) and i > 0
              and run[i - 1].kind == "sign" and before not in (".", "->", "&", "++", "--", "*")
              and after not in ("(", "[", ".", "->", "++", "--", *ASSIGN)):
            for other in ("+", "-"):
                yield Mutant("tick", file, token.at, token.text, f"({token.text} {other} 1)")


def candidates() -> dict[str, list[Mutant]]:
    """All mutants there can be, by kind."""
    kinds: dict[str, list[Mutant]] = {}
    for pattern in FILES:
        for path in sorted(ROOT.glob(pattern)):
            file, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
            for run in statements_of(tokens_of(text)):
                if CHECKS & {token.text for token in run}:
                    continue
                for mutant in (*dropped(file, text, run), *within(file, run)):
                    kinds.setdefault(mutant.kind, []).append(mutant)
    return kinds


def drawn(seed: int):
    """Mutants without end, each once: of every kind equally many as long as there are any."""
    rng, kinds = random.Random(seed), candidates()
    for kind in kinds.values():
        rng.shuffle(kind)
    while any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind]:
                yield kinds[kind].pop()


def placed(place: str) -> list[Mutant]:
    """All mutants of a file or file:line."""
    file, _, line = place.partition(":")
    there = [mutant for kind in candidates().values() for mutant in kind if mutant.file == file]
    return [mutant for mutant in there if not line or mutant.place() == place]


class Results:
    """The outcomes so far, in a file."""

    def __init__(self, path: Path, digest: str):
        self.path, self.lock = path, threading.Lock()
        self.known = {"digest": digest, "mutants": {}, "traces": {}}
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            self.known = known if known["digest"] == digest else self.known

    def get(self, key: str):
        return self.known["mutants"].get(key)

    def put(self, key: str, result: list) -> None:
        with self.lock:
            self.known["mutants"][key] = result
            self.save()

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.known), encoding="utf-8")
        fresh.replace(self.path)


def key_of(mutant: Mutant, seeds: int) -> str:
    return f"{mutant.file} {mutant.at} {mutant.find} {mutant.replace} {seeds}"


def program_hash(ground: Ground) -> str:
    return hashlib.sha256(ground.program.read_bytes()).hexdigest()


class Hunters:
    """Plays mutants until as many as wanted are real ones."""

    def __init__(self, results: Results, seeds: int):
        self.results, self.seeds = results, seeds
        self.traces: dict[int, str] = {}
        self.unchanged: dict[Path, str] = {}  # the program's hash by ground

    def begin(self, ground: Ground) -> None:
        """The sources as they are must pass; each seed's trace is kept."""
        known = self.results.known["traces"]
        if len(known) < self.seeds:
            outcome, known = hunt(ground.program, 1, self.seeds, PROCESSORS)
            if outcome.seed is not None:
                sys.exit(f"the sources as they are fail at seed {outcome.seed}, oracle "
                         f"{outcome.oracle}: {outcome.text}")
            self.results.known["traces"] = known
            self.results.save()
        self.traces = {int(seed): trace for seed, trace in known.items()}

    def play(self, ground: Ground, mutant: Mutant) -> list:
        """["nothing"], or how it ended: [seed or None, oracle, text, seeds that went another way]."""
        key = key_of(mutant, self.seeds)
        if (known := self.results.get(key)) is not None:
            return known
        if ground.tree not in self.unchanged:
            ground.build()
            self.unchanged[ground.tree] = program_hash(ground)
        text = (ground.tree / mutant.file).read_text(encoding="utf-8")
        with ground.changed(mutant.file, mutant.apply(text)) as compiles:
            if not compiles or program_hash(ground) == self.unchanged[ground.tree]:
                result = ["nothing"]
            else:
                result = list(hunt(ground.program, 1, self.seeds, 1, self.traces)[0])
        self.results.put(key, result)
        return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--aim", type=float, default=85)
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.json")
    parser.add_argument("--only", help="all mutants of this file or file:line")
    parser.add_argument("--list", action="store_true", help="print what there is to draw from")
    options = parser.parse_args()
    if options.list:
        for kind, mutants in candidates().items():
            print(kind, len(mutants))
        return
    begun = time.monotonic()
    processes.stop_on_signals()
    hunters = Hunters(Results(options.results, sources_digest()), options.seeds)
    lock, source, count = threading.Lock(), drawn(options.seed), options.count
    if options.only:
        there = placed(options.only)
        source, count = iter(there), len(there)

    def work(ground: Ground, _number: int) -> tuple[Mutant, list] | None:
        with lock:
            if not hunters.traces:
                hunters.begin(ground)
        while True:
            with lock:
                mutant = next(source, None)
            if mutant is None:
                return None  # there were fewer real ones
            result = hunters.play(ground, mutant)
            if result != ["nothing"]:
                return mutant, result

    killed = played = 0
    for number, done in enumerate(on_grounds("hc_storm", list(range(count)), work), 1):
        if done is None:
            continue
        mutant, (seed, oracle, text, other) = done
        played, killed = played + 1, killed + (seed is not None)
        how = (f"killed after {seed}: {oracle}: {text[:70]}" if seed is not None else
               f"SURVIVED; {other} of {options.seeds} seeds went another way")
        print(f"{number:3} {mutant.place()}: {mutant.edit()}\n      {how}", flush=True)
    rate = 100 * killed / played if played > 0 else 0
    print(f"{killed} of {played} mutants killed: {rate:.0f} %, {time.monotonic() - begun:.0f} s")
    sys.exit(0 if rate >= options.aim else 1)


if __name__ == "__main__":
    main()
