"""The tests of the suite that may find a changed file, the cheapest first."""

import json
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hunt import failure_of, hunt
from planting import GROUNDS, WORKERS, Ground, Grounds, digest_of, run

LABELS = {"unit", "scenario", "corpus"}  # of ctest
HISTORIES = 1000
STORM = "hc_storm"
SEEDS = ((1, 20), (21, 100), (101, 300), (301, 2000))  # some after the other
BOUND_S, BOUND_FACTOR = 20, 10  # a test that takes longer has found the change
BATCH = 8  # programs that are linked at once


class Step(NamedTuple):
    name: str
    program: str  # a path in the directory of objects
    arguments: tuple[str, ...]  # {tree} is the ground's copy of the sources
    seeds: tuple[int, int] | None  # of hc_storm


class Outcome(NamedTuple):
    by: str | None  # the step that found the change, or NOTHING; None: none did
    why: str
    other: int  # seeds that took another course, if no step found the change


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


def symbols_of(path: Path, *options: str) -> set[str]:
    """The names that an object or a program defines."""
    lines = run("nm", "--defined-only", *options, path).splitlines()
    return {line.split()[-1] for line in lines if line}


def steps_of(ground: Ground) -> list[Step]:
    """ctest's tests that are programs of the build, exact_histories, and the seeds of hc_storm."""
    tree, objects = str(ground.tree), str(ground.objects)
    tests = json.loads(run("ctest", "--test-dir", objects, "--show-only=json-v1"))["tests"]
    steps = []
    for test in tests:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        program, *arguments = test["command"]
        if LABELS & set(properties.get("LABELS", ())) and program.startswith(objects):
            steps.append(Step(test["name"], program[len(objects) + 1:],
                              tuple(text.replace(tree, "{tree}") for text in arguments), None))
    steps.append(Step("exact_histories", "bin/exact_histories", ("--histories", str(HISTORIES)), None))
    for seeds in SEEDS:
        steps.append(Step(f"{STORM} {seeds[0]}..{seeds[1]}", f"bin/{STORM}", (), seeds))
    return steps


class Suite:
    """All steps, measured with the sources as they are, which must pass."""

    def __init__(self, grounds: Grounds):
        self.results = Results(GROUNDS / "results.json")
        ground = grounds.all[0]
        steps = steps_of(ground)
        self.basis = {step.name: self.basis_of(ground, step) for step in steps}
        self.objects = {file: digest_of((ground.objects / name).read_bytes())
                        for file, name in ground.object_of.items()}
        self.exports = {file: symbols_of(ground.objects / name, "--extern-only")
                        for file, name in ground.object_of.items()}
        self.names = {program: symbols_of(ground.objects / program)
                      for program in {step.program for step in steps}}
        self.ground = ground
        self.traces: dict[str, str] = {}
        with ThreadPoolExecutor(WORKERS) as pool:
            self.seconds = dict(zip([step.name for step in steps], pool.map(self.measure, steps)))
        self.steps = sorted(steps, key=lambda step: self.seconds[step.name])

    @staticmethod
    def basis_of(ground: Ground, step: Step) -> str:
        """Changes with the program, its arguments and its stored inputs."""
        parts = [(ground.objects / step.program).read_bytes(), repr(step[1:])]
        for argument in step.arguments:
            path = Path(argument.format(tree=ground.tree))
            if "{tree}" in argument:
                parts += [file.read_bytes() for file in sorted([path, *path.rglob("*")]) if file.is_file()]
        return digest_of(*parts)

    def measure(self, step: Step) -> float:
        """Seconds of a step that passes."""
        basis = self.basis[step.name]
        known = self.results.get("times", step.name, basis)
        if known is None:
            begun = time.monotonic()
            failure, traces = self.play(self.ground, step, 3600)
            if failure is not None:
                sys.exit(f"the sources as they are fail {step.name}: {failure}")
            known = [time.monotonic() - begun, traces]
            self.results.put("times", step.name, basis, known)
        self.traces.update(known[1])
        return known[0]

    @staticmethod
    def play(ground: Ground, step: Step, bound_s: float) -> tuple[str | None, dict[str, str]]:
        """Why the step fails, or None; and the traces of its seeds."""
        program = ground.objects / step.program
        if step.seeds is not None:
            return hunt(program, *step.seeds)
        command = [str(program), *(text.format(tree=ground.tree) for text in step.arguments)]
        return failure_of(command, str(ground.tree), bound_s), {}

    def steps_for(self, file: str, seeds: int) -> list[Step]:
        """Those that link the file, up to so many seeds; all if it is a header."""
        steps = [step for step in self.steps if step.seeds is None or step.seeds[1] <= seeds]
        if file not in self.exports:
            return steps
        return [step for step in steps if self.exports[file] <= self.names[step.program]]

    def judge(self, ground: Ground, file: str, text: str, seeds: int) -> Outcome:
        """Plays the steps with `text` as the file's, up to the first that fails. Steps that passed
        in an earlier run are not played again."""
        key = f"{file} {digest_of(text)}"
        steps = self.steps_for(file, seeds)
        original = self.objects.get(file, "")
        known = self.results.get("changes", key, original)
        if known is not None and (known["by"] == NOTHING or
                                  known["by"] and self.basis.get(known["by"]) == known["basis"]):
            return Outcome(known["by"], known["why"], 0)
        passed = set(known["passed"]) if known is not None else set()
        left = [step for step in steps if self.basis[step.name] not in passed]
        outcome = Outcome(None, "", known["other"] if known is not None else 0)
        if left:
            with ground.changed(file, text):
                outcome = self.search(ground, file, left, outcome.other)
        passed |= {self.basis[step.name] for step in steps}
        self.results.put("changes", key, original, {
            "by": outcome.by, "why": outcome.why, "basis": self.basis.get(outcome.by),
            "passed": sorted(passed) if outcome.by is None else [], "other": outcome.other})
        return outcome

    def search(self, ground: Ground, file: str, steps: list[Step], other: int) -> Outcome:
        name = ground.object_of.get(file)
        if name is not None:
            if not ground.build(name):
                return Outcome(NOTHING, "does not compile", 0)
            if digest_of((ground.objects / name).read_bytes()) == self.objects[file]:
                return Outcome(NOTHING, "compiles to the same", 0)
        for at, step in enumerate(steps):
            batch = {later.program for later in steps[at: at + BATCH]}
            if at % BATCH == 0 and not ground.build(*sorted(batch)):
                return Outcome(NOTHING, "does not compile", 0)
            bound_s = BOUND_S + BOUND_FACTOR * self.seconds[step.name]
            failure, traces = self.play(ground, step, bound_s)
            if failure is not None:
                return Outcome(step.name, re.sub(r"\s+", " ", failure), 0)
            other += sum(self.traces[seed] != trace for seed, trace in traces.items())
        return Outcome(None, "", other)
