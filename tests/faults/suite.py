"""The tests of the suite that may find a changed file: those that have found changes of it and those of the
file's own name first, then the cheapest first."""

import functools
import json
import re
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hunt import failure_of, hunt
from planting import GROUND, WORKERS, Ground, Planted, digest_of, planted, run

PROGRAMS = r"tests/test_\w+|bin/(fuzz_\w+|exact_histories|hc_storm)"
LABELS = {"unit", "scenario", "corpus"}  # of ctest
HISTORIES = (30, 1000)  # of exact_histories
STORM = "hc_storm"
# The tests that end in so many seconds with the sources as they are, and the seeds after them.
BOUND_S_MAX = 3600  # of a test with the sources as they are
TIERS = ((3, (1, 20)), (12, (21, 100)), (60, (101, 300)), (BOUND_S_MAX, (301, 2000)))
BOUND_S, BOUND_FACTOR = 20, 10  # a test that takes longer has found the change


class Step(NamedTuple):
    name: str
    program: str  # a path in the directory of objects
    arguments: tuple[str, ...]  # {tree} is the ground's copy of the sources
    seeds: tuple[int, int] | None  # of hc_storm


class Outcome(NamedTuple):
    by: str | None  # the step that found the change, or NOTHING; None: none did
    why: str
    other: int  # seeds that took another course, if no step found the change
    seconds: float

    @property
    def first(self) -> str | None:
        """The step that would find the change soonest."""
        seed = re.match(r"seed (\d+):", self.why)
        return f"{STORM} {seed[1]}..{seed[1]}" if self.by and self.by.startswith(STORM) and seed else self.by


NOTHING = "nothing"  # stands for the step if the change does not compile, or changes no object


class Results:
    """What is known from earlier runs, in a file. Every entry names the digest of the programs that
    it is about, so that it counts only for equal ones."""

    def __init__(self, path: Path):
        self.path, self.lock = path, threading.Lock()
        self.known = {"times": {}, "changes": {}}
        if path.exists():
            self.known = json.loads(path.read_text(encoding="utf-8"))

    def get(self, kind: str, key: str, basis: str):
        entry = self.known[kind].get(key)
        return entry["value"] if entry is not None and entry["basis"] == basis else None

    def put(self, kind: str, key: str, basis: str, value) -> None:
        with self.lock:
            self.known[kind][key] = {"basis": basis, "value": value}
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(self.known), encoding="utf-8")
            fresh.replace(self.path)


def storm(first: int, last: int) -> Step:
    return Step(f"{STORM} {first}..{last}", f"bin/{STORM}", (), (first, last))


def tests_of(ground: Ground) -> list[Step]:
    """ctest's tests that are programs of the build, and exact_histories."""
    tree, objects = str(ground.tree), str(ground.objects)
    tests = json.loads(run("ctest", "--test-dir", objects, "--show-only=json-v1"))["tests"]
    steps = []
    for test in tests:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        if not LABELS & set(properties.get("LABELS", ())):
            continue
        program, *arguments = test["command"]
        if program.startswith(objects):
            steps.append(Step(test["name"], program[len(objects) + 1:],
                              tuple(text.replace(tree, "{tree}") for text in arguments), None))
    return steps + [Step(f"exact_histories {count}", "bin/exact_histories", ("--histories", str(count)), None)
                    for count in HISTORIES]


class Suite:
    """All tests, and the seeds of hc_storm. Each step must pass with the sources as they are, which is shown
    when it is first needed; those that do not find nothing."""

    def __init__(self, ground: Ground):
        self.ground = ground
        self.results = Results(GROUND / "outcomes.json")
        self.tests = tests_of(ground)
        self.broken: dict[Step, str] = {}  # by steps that fail with the sources as they are, the cause
        self.locks: dict[str, threading.Lock] = defaultdict(threading.Lock)

    @functools.cache
    def basis_of(self, step: Step) -> str:
        """Changes with the program, its arguments and its stored inputs."""
        parts = [(self.ground.objects / step.program).read_bytes(), repr(step[1:])]
        for argument in step.arguments:
            path = Path(argument.format(tree=self.ground.tree))
            if "{tree}" in argument:
                parts += [file.read_bytes() for file in sorted([path, *path.rglob("*")]) if file.is_file()]
        return digest_of(*parts)

    def measure(self, step: Step, bound_s: float = BOUND_S_MAX) -> tuple[float, dict[str, str]] | None:
        """Seconds of a step that passes, and the traces of its seeds. None: it fails, or takes longer than the
        bound."""
        with self.locks[step.name]:
            if step in self.broken:
                return None
            basis = self.basis_of(step)
            seconds, traces = self.results.get("times", step.name, basis) or (0, None)
            if traces is None and seconds < bound_s:
                begun = time.monotonic()
                failure, traces = self.play(self.ground.objects / step.program, step, bound_s)
                seconds = time.monotonic() - begun
                if failure is not None and (seconds < bound_s or bound_s == BOUND_S_MAX):
                    self.broken[step] = failure
                    return None
                self.results.put("times", step.name, basis, (seconds, None if failure else traces))
                traces = None if failure else traces
        return (seconds, traces) if traces is not None and seconds < bound_s else None

    def play(self, program: Path, step: Step, bound_s: float) -> tuple[str | None, dict[str, str]]:
        """Why the step fails, or None; and the traces of its seeds."""
        if step.seeds is not None:
            return hunt(program, *step.seeds)
        command = [str(program), *(text.format(tree=self.ground.tree) for text in step.arguments)]
        return failure_of(command, str(self.ground.tree), bound_s), {}

    @functools.cache
    def tier(self, number: int) -> list[Step]:
        """The tests of a tier, the cheapest first."""
        with self.locks["tiers"], ThreadPoolExecutor(WORKERS) as pool:
            measured = zip(self.tests, pool.map(lambda step: self.measure(step, TIERS[number][0]), self.tests))
        seconds = {step: known[0] for step, known in measured if known is not None}
        slower_than = TIERS[number - 1][0] if number > 0 else 0
        return sorted((step for step in seconds if seconds[step] >= slower_than), key=seconds.__getitem__)

    def named(self, name: str) -> list[Step]:
        """The step of that name, if there is one."""
        if found := re.fullmatch(rf"{STORM} (\d+)\.\.(\d+)", name):
            return [storm(int(found[1]), int(found[2]))]
        return [step for step in self.tests if step.name == name]

    def steps_for(self, file: str, seeds: int, first: list[str]):
        """The steps in their order, up to so many seeds. Some come twice."""
        for name in first:
            yield from self.named(name)
        yield from (step for step in self.tests if step.name.endswith(f"_{Path(file).stem}"))
        for number, (_, some) in enumerate(TIERS):
            yield from self.tier(number)
            if some[1] <= seeds:
                yield storm(*some)

    def judge(self, file: str, text: str, seeds: int, first: list[str]) -> Outcome:
        """Plays the steps with `text` as the file's, `first` first, up to the first that fails. Steps that
        passed in an earlier run are not played again."""
        key = f"{file} {digest_of(text)}"
        basis = digest_of(*((self.ground.objects / name).read_bytes() for name in self.ground.objects_of(file)))
        known = self.results.get("changes", key, basis) or {"by": None, "passed": {}}
        if known["by"] == NOTHING or known["by"] and known["basis"] in map(self.basis_of, self.named(known["by"])):
            return Outcome(known["by"], known["why"], 0, known["seconds"])
        begun = time.monotonic()
        passed = known["passed"]  # seeds that took another course, by the basis of the step
        with planted(self.ground, file, text) as change:
            step, why = self.search(change, self.steps_for(file, seeds, first), passed)
        by = step.name if step is not None else NOTHING if why else None
        outcome = Outcome(by, why, sum(passed.values()), time.monotonic() - begun)
        self.results.put("changes", key, basis, {
            "by": by, "why": why, "basis": step and self.basis_of(step),
            "passed": passed, "seconds": outcome.seconds})
        return outcome

    def search(self, change: Planted, steps, passed: dict[str, int]) -> tuple[Step | None, str]:
        """The first step that fails, and why; without a step, why there is nothing to find. Adds those that
        pass to `passed`."""
        if not change.compile():
            return None, "does not compile"
        if not change.objects:
            return None, "compiles to the same"
        for step in steps:
            if self.basis_of(step) in passed or not change.objects_in(step.program):
                continue
            measured = self.measure(step)
            if measured is None:
                continue
            program = change.link(step.program)
            if program is None:
                return None, "cannot be linked"
            seconds, traces = measured
            failure, seen = self.play(program, step, BOUND_S + BOUND_FACTOR * seconds)
            if failure is not None:
                return step, re.sub(r"\s+", " ", failure)
            passed[self.basis_of(step)] = sum(traces[seed] != trace for seed, trace in seen.items())
        return None, ""
