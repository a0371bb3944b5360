"""A copy of the sources with a build of its own, and programs of it with a fault in one file."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NO_SOURCES = {"build", ".git"}
GROUND = ROOT / "build" / "planted"
WORKERS = min(2, len(os.sched_getaffinity(0)))


class Fault(NamedTuple):
    """A piece of source text that occurs exactly once in its file, and the text that replaces it.

    When the source changes so that the text is gone, planting fails and names the fault: write it
    anew, do not drop it."""
    file: str
    what: str  # the rule that it breaks
    find: str
    replace: str
    found_by: str = ""  # the step that is played first, because it has found the fault before


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


def run(*command: object) -> str:
    """Its output; ends this program if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} fails:\n{done.stdout}{done.stderr}")
    return done.stdout


class Ground:
    """A copy of the sources, and a build of its programs whose paths match `pattern`, with -O1 and the
    expensive checks. Both stay for the next run, which copies and compiles only changed files. One
    program at a time uses the ground, and no fault changes it: see Planted."""

    def __init__(self, pattern: str):
        self.tree, self.objects = GROUND / "tree", GROUND / "objects"
        GROUND.mkdir(parents=True, exist_ok=True)
        self.lock = (GROUND / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"another program plants faults in {GROUND}")
        for left in GROUND.glob("tmp*"):  # of a program that was killed
            shutil.rmtree(left)
        self.copy_sources()
        if not (self.objects / "build.ninja").exists():
            run("cmake", "-S", self.tree, "-B", self.objects, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                "-DCMAKE_C_FLAGS=-O1", "-DHC_VALIDATE=ON", "-DHC_INSTALL=OFF")
        run("ninja", "-C", self.objects, "build.ninja")
        commands = json.loads(run("ninja", "-C", self.objects, "-t", "compdb"))
        self.commands = {entry["output"]: shlex.split(entry["command"]) for entry in commands}
        run("ninja", "-C", self.objects, "-j", WORKERS,
            *(output for output in self.commands if re.fullmatch(pattern, output)))
        # The product's objects; tests/ compiles some of its files once more, and the build generates others.
        self.object_of = {str(Path(entry["file"]).relative_to(self.tree)): entry["output"] for entry in commands
                          if entry["file"].endswith(".c") and entry["output"].startswith("CMakeFiles/")
                          and Path(entry["file"]).is_relative_to(self.tree)}

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

    @functools.cached_property
    def includers(self) -> dict[str, list[str]]:
        """By header, the built objects that include it."""
        found: dict[str, list[str]] = {}
        name = ""
        for line in run("ninja", "-C", self.objects, "-t", "deps").splitlines():
            if not line.startswith(" "):
                name = line.partition(":")[0]
            elif name in self.commands:
                path = Path(os.path.normpath(self.objects / line.strip()))
                if path.is_relative_to(self.tree):
                    found.setdefault(str(path.relative_to(self.tree)), []).append(name)
        return found

    def objects_of(self, file: str) -> list[str]:
        """The objects that a change of the file may change."""
        return [self.object_of[file]] if file in self.object_of else self.includers.get(file, [])

    @functools.cache
    def symbols_of(self, path: str, *options: str) -> frozenset[str]:
        """The names that an object or a program defines."""
        lines = run("nm", "--defined-only", *options, self.objects / path).splitlines()
        return frozenset(line.split()[-1] for line in lines if line)

    def is_linked(self, name: str, program: str) -> bool:
        """Whether an object is part of a program, as its own or out of a library."""
        linking = self.commands[program]
        library = "lib" + name.partition("CMakeFiles/")[2].partition(".dir/")[0] + ".a"
        return name in linking or (
            any(Path(word).name == library for word in linking)
            and self.symbols_of(name, "--extern-only") <= self.symbols_of(program))


class Planted:
    """A change of one file, in a directory of its own: the objects that differ by it, and programs that are
    linked of them and the ground's other objects."""

    def __init__(self, ground: Ground, directory: Path, file: str, text: str):
        self.ground, self.directory, self.file = ground, directory, file
        self.tree = directory / "tree"
        self.objects: dict[str, Path] = {}  # by the names of the ground's
        (self.tree / file).parent.mkdir(parents=True)
        (self.tree / file).write_text(text, encoding="utf-8")

    def compile(self) -> bool:
        """False if the change does not compile."""
        ground = self.ground
        for name in ground.objects_of(self.file):
            fresh = self.directory / name
            fresh.parent.mkdir(parents=True, exist_ok=True)
            others = {name: str(fresh), f"{name}.d": f"{fresh}.d",
                      str(ground.tree / self.file): str(self.tree / self.file)}
            command = [others.get(word, word) for word in ground.commands[name]]
            command[1:1] = [f"-I{self.tree}", f"-I{self.tree}/include",
                            f"-ffile-prefix-map={self.tree}={ground.tree}"]
            if not self.succeeds(command):
                return False
            if fresh.read_bytes() != (ground.objects / name).read_bytes():
                self.objects[name] = fresh
        return True

    def objects_in(self, program: str) -> list[str]:
        """The changed objects that are part of a program."""
        return [name for name in self.objects if self.ground.is_linked(name, program)]

    def link(self, program: str) -> Path | None:
        """The program with the change; None if it cannot be linked."""
        fresh = self.directory / program
        if not fresh.exists():
            fresh.parent.mkdir(parents=True, exist_ok=True)
            old = self.ground.commands[program][2:-2]  # without `: &&` and `&& :`
            command = [str(fresh if word == program else self.objects.get(word, word)) for word in old]
            # An object that is named makes the linker pass over the one of the library.
            command[1:1] = [str(self.objects[name]) for name in self.objects_in(program) if name not in old]
            if not self.succeeds(command):
                return None
        return fresh

    def succeeds(self, command: list[str]) -> bool:
        return subprocess.run(command, cwd=self.ground.objects, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def planted(ground: Ground, file: str, text: str):
    """A change whose directory is removed at the end."""
    with tempfile.TemporaryDirectory(dir=GROUND) as directory:
        yield Planted(ground, Path(directory), file, text)


def each(jobs: list, work):
    """work(job) for each job, several at once; gives the results in the order of the jobs."""
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            yield from pool.map(work, jobs)
        finally:
            pool.shutdown(cancel_futures=True)
