"""Copies of the sources with a build of their own, into which faults are planted."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NO_SOURCES = {"build", ".git"}
GROUNDS = ROOT / "build" / "planted"
WORKERS = min(2, len(os.sched_getaffinity(0)))


class Fault(NamedTuple):
    """A piece of source text that occurs exactly once in its file, and the text that replaces it.

    When the source changes so that the text is gone, planting fails and names the fault: write it
    anew, do not drop it."""
    file: str
    what: str  # the rule that it breaks
    find: str
    replace: str


@functools.cache
def text_of(file: str) -> str:
    """A file of the sources as it was when it was first read: they may be edited meanwhile."""
    return (ROOT / file).read_text(encoding="utf-8")


def planted_text(name: str, fault: Fault) -> str:
    """The fault's file with the fault in it."""
    text = text_of(fault.file)
    # Line breaks and indentation may change.
    words = re.findall(r"\w+|[^\w\s]", fault.find)
    found = list(re.finditer(r"\s*".join(map(re.escape, words)), text))
    if len(found) != 1:
        sys.exit(f"{name}: its text occurs {len(found)} times in {fault.file}, not once:\n{fault.find}")
    return text[: found[0].start()] + fault.replace.strip() + text[found[0].end():]


def check_places(faults: dict[str, Fault]) -> None:
    """Ends the program if a fault has no place in the sources."""
    for name, fault in faults.items():
        planted_text(name, fault)


def digest_of(*parts: bytes | str) -> str:
    """Of the parts and their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        part = part.encode() if isinstance(part, str) else part
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


class Ground:
    """A copy of the sources in `directory`, and a build of them with -O1 and the expensive checks.
    Both stay for the next run, which copies and compiles only changed files."""

    def __init__(self, directory: Path, targets: tuple[str, ...]):
        self.tree, self.objects = directory / "tree", directory / "objects"
        self.copy_sources()
        if not (self.objects / "build.ninja").exists():
            # Programs of all grounds must be equal, so they must not name their directory.
            run("cmake", "-S", self.tree, "-B", self.objects, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                f"-DCMAKE_C_FLAGS=-O1 -ffile-prefix-map={self.tree}=.", "-DHC_VALIDATE=ON",
                "-DHC_INSTALL=OFF")
        run("ninja", "-C", self.objects, "-j", "2", *targets)
        commands = json.loads((self.objects / "compile_commands.json").read_text(encoding="utf-8"))
        # The product's objects; tests/ compiles some of its files once more.
        self.object_of = {
            str(Path(entry["file"]).relative_to(self.tree)): found[1] for entry in commands
            if (found := re.search(r"-o (CMakeFiles/\S+) -c ", entry["command"]))}

    def copy_sources(self) -> None:
        """A file that equals its copy keeps the copy's time, so it is not compiled again."""
        files = set()
        for top in ROOT.iterdir():
            if top.name in NO_SOURCES:
                continue
            files |= {path.relative_to(ROOT) for path in [top, *top.rglob("*")] if path.is_file()}
        for path in self.tree.rglob("*"):
            if path.is_file() and path.relative_to(self.tree) not in files:
                path.unlink()
        for file in files:
            fresh, copy = (ROOT / file).read_bytes(), self.tree / file
            if not copy.exists() or copy.read_bytes() != fresh:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(fresh)
                shutil.copymode(ROOT / file, copy)

    def build(self, *targets: str) -> bool:
        """Compiles changed files, and links; False when one does not compile."""
        command = ["ninja", "-C", str(self.objects), "-j", "1", *targets]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @contextlib.contextmanager
    def changed(self, file: str, text: str):
        """Inside, `file` is `text`."""
        path = self.tree / file
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(original, encoding="utf-8")


def run(*command: object) -> str:
    """Its output; ends this program if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} fails:\n{done.stdout}{done.stderr}")
    return done.stdout


class Grounds:
    """As many grounds as there are workers, in which the targets are built; without any, all are.
    One program at a time uses the grounds."""

    def __init__(self, *targets: str):
        GROUNDS.mkdir(parents=True, exist_ok=True)
        self.lock = (GROUNDS / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"another program plants faults in {GROUNDS}")
        self.all = [Ground(GROUNDS / str(i), targets) for i in range(WORKERS)]

    def each(self, jobs: list, work):
        """work(ground, job) for each job; gives the results in the order of the jobs."""
        free: queue.Queue[Ground] = queue.Queue()
        for ground in self.all:
            free.put(ground)

        def on_some(job):
            ground = free.get()
            try:
                return work(ground, job)
            finally:
                free.put(ground)

        with ThreadPoolExecutor(WORKERS) as pool:
            try:
                yield from pool.map(on_some, jobs)
            finally:
                pool.shutdown(cancel_futures=True)
