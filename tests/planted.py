#!/usr/bin/env python3
"""Plants faults and mechanical mutants into the product, one at a time; the tests must find them.

    planted.py [--count N] [--seed N] [NAME|FILE|FILE:LINE...]
    planted.py --places     only checks that each fault, and each harmless mutant, has its place in the
                            sources

Plays every fault of tests/storm/faults.py and tests/faults/timeline.py, and `count` mutants (100)
drawn from `seed` (1); or only the faults of those names and all mutants of those places. For each it
compiles the changed file alone, links it with the tests that use it, one at a time, and plays them up to
the first that fails, does not end, or crashes: first the one that the fault names as `found_by`, then those
that other faults of the file name, then those named after the file, then the cheapest. A mutant is drawn
anew if it does not compile, compiles to the same, or is harmless (tests/faults/harmless.py).

Prints a table: the change, and the test that found it. build/planted keeps the build and all outcomes,
so an interrupted run goes on where it was, and a change of the sources repeats only what depends on it.
A test that fails without a change is left out and named at the end. Exit status 0 only if there is none, and
all faults and at least 90 % of the mutants were found.
"""

import argparse
import contextlib
import resource
import sys
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "faults"), str(HERE / "storm")]
import faults  # noqa: E402
import timeline  # noqa: E402
from hunt import processes  # noqa: E402
from mutants import Mutant, check_harmless, drawn, placed  # noqa: E402
from planting import Ground, check_places, each, planted_text, text_of  # noqa: E402
from suite import NOTHING, PROGRAMS, Outcome, Suite  # noqa: E402

FAULT_SEEDS, MUTANT_SEEDS = 2000, 300
AIM = 90  # percent of the mutants
FAULTS = {**faults.FAULTS, **{f"timeline/{name}": fault for name, fault in timeline.FAULTS.items()}}

found_by: Counter[str] = Counter()  # kinds of tests


def finders_of(file: str) -> list[str]:
    """The tests that have found faults of the file, those of most faults first."""
    counts = Counter(fault.found_by for fault in FAULTS.values() if fault.file == file)
    return [name for name, _ in counts.most_common()]


@contextlib.contextmanager
def stage(name: str):
    """Prints how long it takes, also in seconds of processor time, which other programs lengthen little."""
    def processor_s() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in used)

    begun, used = time.monotonic(), processor_s()
    yield
    print(f"== {name}: {time.monotonic() - begun:.0f} s, of a processor {processor_s() - used:.0f} s", flush=True)


def show(name: str, outcome: Outcome, seeds: int) -> bool:
    """Prints a row and counts it; returns whether the change was found."""
    how = f"{outcome.by}: {outcome.why[:100]}"
    if outcome.by is None:
        how = f"SURVIVED; {outcome.other} of {seeds} seeds took another course"
    else:
        found_by[outcome.by.split("_")[0].replace("hc", "storm")] += 1
    print(f"{name}\n    {outcome.seconds:.0f} s, {how}", flush=True)
    return outcome.by is not None


def play_faults(suite: Suite, names: list[str]) -> int:
    """Returns how many were found."""
    def work(name: str) -> Outcome:
        fault = FAULTS[name]
        return suite.judge(fault.file, planted_text(name, fault), FAULT_SEEDS,
                           [fault.found_by, *finders_of(fault.file)])

    found = 0
    for name, outcome in zip(names, each(names, work)):
        if outcome.by == NOTHING:
            print(f"{name}\n    NOT PLANTED: it {outcome.why}", flush=True)
            continue
        found += show(f"{name}: {FAULTS[name].what}", outcome, FAULT_SEEDS)
        if outcome.first not in (None, FAULTS[name].found_by):
            print(f"    to begin with it: found_by=\"{outcome.first}\"", flush=True)
    return found


def play_mutants(suite: Suite, source, count: int) -> tuple[int, int]:
    """Returns how many of `source` were found, and of how many."""
    lock = threading.Lock()

    def work(_number: int) -> tuple[Mutant, Outcome] | None:
        while True:
            with lock:
                mutant = next(source, None)
            if mutant is None:
                return None
            outcome = suite.judge(mutant.file, mutant.apply(text_of(mutant.file)), MUTANT_SEEDS,
                                  finders_of(mutant.file))
            if outcome.by != NOTHING:
                return mutant, outcome

    found = played = 0
    for done in filter(None, each(list(range(count)), work)):
        played += 1
        found += show(f"{done[0].place()}: {done[0].edit()}", done[1], MUTANT_SEEDS)
    return found, played


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", action="store_true")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    check_places(FAULTS)
    check_harmless()
    if options.places:
        return
    names, source, count = list(FAULTS), drawn(options.seed), options.count
    if options.only:
        names = [name for name in FAULTS if name in options.only]
        there = [mutant for place in options.only if place not in FAULTS for mutant in placed(place)]
        source, count = iter(there), len(there)
    processes.stop_on_signals()
    with stage("build"):
        suite = Suite(Ground(PROGRAMS))
    with stage("faults"):
        faults_found = play_faults(suite, names)
    with stage("mutants"):
        mutants_found, mutants = play_mutants(suite, source, count)
    for step, failure in suite.broken.items():
        print(f"FAILS WITH THE SOURCES AS THEY ARE: {step.name}: {failure[:100]}")
    print("found by " + ", ".join(f"{kind} {count}" for kind, count in found_by.most_common()))
    print(f"{faults_found} of {len(names)} faults, {mutants_found} of {mutants} mutants found")
    sys.exit(0 if not suite.broken and faults_found == len(names) and 100 * mutants_found >= AIM * mutants else 1)


if __name__ == "__main__":
    main()
