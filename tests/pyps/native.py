"""Build the programs of tests/native under sanitizers, and run them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from tests import soak

ROOT = Path(__file__).parents[2]
LIMIT = 90.0 * soak.TIMES  # seconds that a program gets
BUILD_LIMIT = 280.0  # seconds; the first program of a sanitizer brings all of libps with it

Test = TypeVar("Test", bound=Callable[..., None])
needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("make") is None, reason="g++ or make is missing"
)


def native(test: Test) -> Test:
    """A test of programs: each is built for the first test that runs it."""
    marked: Test = needs_compiler(pytest.mark.long(pytest.mark.timeout(BUILD_LIMIT + LIMIT + 10)(test)))
    return marked


def times(few: int) -> str:
    """Return so many seeds, messages or rounds, or as many as a long run has, as a program takes them."""
    return str(soak.times(few))


@dataclass(frozen=True)
class Programs:
    """The programs under one sanitizer: address (with undefined) or thread."""

    sanitizer: str

    def run(self, name: str, *arguments: str) -> str:
        """Build a program, run it and return what it printed; fail if it failed."""
        # A sanitizer's library that this process has preloaded is not meant for it.
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        done = subprocess.run(
            [self._build(name, environment), *arguments],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _build(self, name: str, environment: dict[str, str]) -> Path:
        """Bring a program up to date; one process at a time builds what test processes share."""
        directory = ROOT / "build/native" / self.sanitizer
        directory.mkdir(parents=True, exist_ok=True)
        jobs = f"-j{os.cpu_count()}"
        command = ["make", "-s", "-C", ROOT / "tests/native", jobs, f"SANITIZER={self.sanitizer}", name]
        # Flags of a make that runs the tests are not meant for this one.
        environment = {key: value for key, value in environment.items() if not key.startswith("MAKE")}
        with (directory / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=BUILD_LIMIT,
                env=environment,
                check=False,
            )
        assert done.returncode == 0, done.stdout
        return directory / name
