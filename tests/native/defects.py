"""Deliberate defects of the shipped sources, each of which a simulation must catch.

``python -m tests.native.defects [WORD...]`` tries all of ``defects.toml``, or those that name one of the words. The
sources are copied to ``build/defects``; there each defect is made, what it touches is built, the simulations run from
the first seed on, and the defect is mended again. Prints after how many seeds each one was caught; ends with 1 if one
was not, or if its text does not stand once in its file.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What the simulations are made of; without sockets and the rest, so that little is built anew.
ROOMS = ["membership", "protocol", "requests", "sampling", "segment", "store", "wire"]
SINGLE = ["counting.h", "divisor.h", "errors.cpp", "errors.h", "flat_map.h", "mixing.h", "ps.h", "random.h"]
SINGLE += [f"worker/{name}.{kind}" for name in ("barrier", "loss", "workers") for kind in ("cpp", "h")]
SIMULATIONS = (
    "interleavings",
    "losses",
    "settings",
    "board",
    "deletions",
    "members",
    "compression",
    "trials",
)
# Of seeds: what few of one simulation catch need not wait for many of the other.
PORTIONS = ((0, 99), (100, 1500))
RARE = (1501, 400_000)  # of the one simulation that a row with `rare` names, which is then optimised
LIMIT = 120.0  # seconds that a simulation gets; one that hangs has not caught anything
RARE_LIMIT = 600.0  # seconds for those
BUILD_LIMIT = 280.0  # seconds
SEED = re.compile(r"^seed (\d+): .*?([\w.]+:\d+: .*)", re.MULTILINE)


@dataclass(frozen=True)
class Defect:
    """A row of the table: the text in the file below pyps/core, and what stands there instead.

    `rare` names the simulation that goes on with many more seeds if the usual ones catch nothing.
    """

    breaks: str
    file: str
    text: str
    replacement: str
    rare: str = ""

    def make(self, tree: Path) -> Path:
        """Make the defect in a copy of the sources; return its file."""
        path = tree / "pyps/core" / self.file
        source = path.read_text()
        found = source.count(self.text)
        if found != 1:
            raise LookupError(f"{self.file} has {found} times, not once: {self.text!r}")
        path.write_text(source.replace(self.text, self.replacement))
        return path


def read_defects(words: Sequence[str] = ()) -> list[Defect]:
    """Read the rows that have one of the words in their file or description; all if there are no words."""
    rows = tomllib.loads((ROOT / "tests/native/defects.toml").read_text())["defect"]
    defects = [Defect(**row) for row in rows]
    return [d for d in defects if not words or any(word in d.file or word in d.breaks for word in words)]


def copy_sources(tree: Path) -> None:
    """Bring a copy up to date; what has not changed keeps its time, so that it is not built again."""
    sources = [ROOT / "pyps/core" / name for name in SINGLE]
    for place in [*(ROOT / "pyps/core" / room for room in ROOMS), ROOT / "tests/native"]:
        sources += [
            path for path in place.rglob("*") if path.suffix in {".cpp", ".h"} or path.name == "Makefile"
        ]
    wanted = {tree / path.relative_to(ROOT): path for path in sources}
    for copy, path in wanted.items():
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for place in (tree / "pyps", tree / "tests"):
        for old in [path for path in place.rglob("*") if path.is_file() and path not in wanted]:
            old.unlink()


def build(tree: Path, programs: Sequence[str] = SIMULATIONS, flags: str = "-O1") -> str | None:
    """Build simulations below `build/FLAGS`; return the compiler's words if it refuses."""
    command = ["make", "-s", "-C", tree / "tests/native", f"-j{os.cpu_count()}", "SANITIZER=none"]
    command += [f"flags_none={flags} -w", f"out={tree / 'build' / flags.strip('-')}"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        [*command, *programs],
        capture_output=True,
        text=True,
        timeout=BUILD_LIMIT,
        env=environment,
        check=False,
    )
    return done.stderr if done.returncode else None


def simulate(tree: Path, rare: str = "") -> str | None:
    """Run the simulations until one fails, and in the end one with many more seeds; return how, or None."""
    for seeds, program in itertools.product(PORTIONS, SIMULATIONS):
        if caught := run(tree / "build/O1" / program, seeds, LIMIT):
            return caught
    if not rare:
        return None
    if words := build(tree, [rare], "-O2"):
        raise RuntimeError(words)
    return run(tree / "build/O2" / rare, RARE, RARE_LIMIT)


def run(program: Path, seeds: tuple[int, int], limit: float) -> str | None:
    """Run a simulation; return how it fails, or None."""
    command = [program, *map(str, seeds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if failed := SEED.search(done.stderr):
        return f"{program.name}, {int(failed[1]) + 1} seeds: {failed[2]}"
    return f"{program.name}, ended by signal {-done.returncode}" if done.returncode < 0 else None


def attempt(defect: Defect, tree: Path) -> str | None:
    """Make a defect, look whether it is caught, and mend it. Return how it was caught, or None."""
    path = tree / "pyps/core" / defect.file
    whole = path.read_bytes()
    defect.make(tree)
    try:
        words = build(tree)
        if words is not None:
            raise RuntimeError(f"the defect '{defect.breaks}' does not compile:\n{words}")
        return simulate(tree, defect.rare)
    finally:
        path.write_bytes(whole)


def prepare(tree: Path) -> None:
    """Copy the sources, build them and see that the simulations find nothing wrong with them."""
    copy_sources(tree)
    words = build(tree)
    if words is not None:
        raise RuntimeError(words)
    caught = simulate(tree)
    if caught is not None:
        raise RuntimeError(f"without any defect: {caught}")


def main(words: Sequence[str]) -> int:
    """Try the defects and print what came of each."""
    tree = ROOT / "build/defects"
    prepare(tree)
    missed = 0
    defects = read_defects(words)
    for defect in defects:
        began = time.monotonic()
        try:
            caught = attempt(defect, tree)
        except (LookupError, RuntimeError) as error:
            caught, missed = f"ERROR: {error}", missed + 1
        missed += caught is None
        seconds = time.monotonic() - began
        print(f"{defect.file}: {defect.breaks}\n    {caught or 'NOT CAUGHT'} ({seconds:.0f} s)", flush=True)
    print(f"{len(defects) - missed} of {len(defects)} defects were caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
