"""Planted faults: a copy of the sources with a build of its own, into which faults are put.

A fault is a piece of source text that occurs exactly once in its file, and what to put in its
place. When the source changes so that the text is gone, planting fails and names the fault: write
it anew, do not drop it.
"""

import contextlib
import hashlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("CMakeLists.txt", "cmake", "include", "common", "proto", "server", "client", "tests")
PROCESSORS = len(os.sched_getaffinity(0))


class Fault(NamedTuple):
    file: str
    what: str  # the rule that it breaks
    find: str
    replace: str


def sources_digest() -> str:
    """Of everything that a copy is made of."""
    digest = hashlib.sha256()
    for name in SOURCES:
        top = ROOT / name
        for path in sorted(p for p in [top, *top.rglob("*.[ch]"), *top.rglob("*.cmake")] if p.is_file()):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def planted_text(name: str, fault: Fault, tree: Path = ROOT) -> str:
    """The fault's file with the fault in it."""
    text = (tree / fault.file).read_text(encoding="utf-8")
    # Line breaks and indentation may change.
    words = re.findall(r"\w+|[^\w\s]", fault.find)
    found = list(re.finditer(r"\s*".join(map(re.escape, words)), text))
    if len(found) != 1:
        sys.exit(f"{name}: its text occurs {len(found)} times in {fault.file}, not once:\n{fault.find}")
    return text[: found[0].start()] + fault.replace.strip() + text[found[0].end():]


class Ground:
    """A copy of the sources, in `directory`, and a release build of one program of it."""

    def __init__(self, directory: Path, program: str):
        self.tree, self.objects = directory / "tree", directory / "objects"
        self.target, self.program = program, self.objects / "bin" / program
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            self.tree.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, self.tree / name)
        self.run("cmake", "-S", self.tree, "-B", self.objects, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", "-DHC_INSTALL=OFF")
        if not self.build():
            sys.exit("the sources as they are do not compile")

    @staticmethod
    def run(*command: object) -> None:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{command[0]} fails:\n{done.stdout}{done.stderr}")

    def build(self) -> bool:
        """Compiles what has changed, and links; False when it does not compile."""
        command = ["ninja", "-C", str(self.objects), "-j", "2", self.target]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @contextlib.contextmanager
    def changed(self, file: str, text: str):
        """Inside, `file` is `text`; gives whether that compiles."""
        path = self.tree / file
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            yield self.build()
        finally:
            path.write_text(original, encoding="utf-8")

    def planted(self, name: str, fault: Fault):
        """Inside, the fault is there; gives whether it compiles."""
        return self.changed(fault.file, planted_text(name, fault, self.tree))


def on_grounds(program: str, jobs: list, work):
    """work(ground, job) for each job, on as many grounds as there are processors; gives the results
    in the order of the jobs."""
    with tempfile.TemporaryDirectory() as directory:
        grounds: queue.Queue[Ground] = queue.Queue()
        for i in range(min(PROCESSORS, len(jobs))):
            grounds.put(Ground(Path(directory) / str(i), program))

        def on_some(job):
            ground = grounds.get()
            try:
                return work(ground, job)
            finally:
                grounds.put(ground)

        with ThreadPoolExecutor(PROCESSORS) as pool:
            try:
                yield from pool.map(on_some, jobs)
            finally:
                pool.shutdown(cancel_futures=True)
