"""Run tests while their threads starve and their processes stand still, as on a machine that has much else to do.

    python -m tests.shake [--times N] [--busy N] [--seed N] tests/luaps/test_cluster.py -k order -n 2

What holds only because nobody was late fails here: a test that forgot a barrier, a wait that is too short. Linux lets
only root raise a thread's priority again; others' threads are left alone, and only processes stand still.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.system import descendants, state, tasks

TIMES = "MOONTIDE_SHAKE_TIMES"
NICE = (0, 0, 5, 10, 19)  # what a thread gets; 19 is next to nothing beside a busy one
STANDSTILLS = (0.01, 0.05, 0.2, 0.4)  # seconds
STILL = ("", "T", "t", "Z")  # the system's letters
PAUSES = (0.005, 0.03, 0.1)  # seconds between two standstills


def pytest_generate_tests(metafunc: Any) -> None:
    """Have each test run as often as `main` was told."""
    times = int(os.environ.get(TIMES, "1"))
    if times > 1:
        metafunc.fixturenames.append("shaken")
        metafunc.parametrize("shaken", range(times), indirect=True)


@pytest.fixture
def shaken(request: pytest.FixtureRequest) -> int:
    """Tell how often this test ran before."""
    number: int = request.param
    return number


def starve(process: int) -> None:
    """Give half of a process's threads other priorities."""
    for thread in tasks(process):
        if random.random() < 0.5:
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, int(thread.name), random.choice(NICE))


def stand_still(process: int) -> None:
    """Stop a process for a moment."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGSTOP)
        try:
            time.sleep(random.choice(STANDSTILLS))
        finally:
            os.kill(process, signal.SIGCONT)


def shake(root: subprocess.Popen[Any]) -> int:
    """Disturb the processes below one until it ends; return its exit status."""
    while root.poll() is None:
        # Those that stand still already do so by a test's will.
        processes = [process for process in descendants(root.pid) if state(process) not in STILL]
        if os.geteuid() == 0:
            for process in processes:
                starve(process)
        if processes:
            stand_still(random.choice(processes))
        time.sleep(random.choice(PAUSES))
    return root.returncode


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Have so many processes compute, which go with this one."""
    source = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", source]))
            stack.callback(process.kill)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.shake",
        description="Run tests while their threads starve and their processes stand still.",
        epilog="Everything else is for pytest.",
    )
    parser.add_argument("--times", type=int, default=1, help="how often each test runs (default: 1)")
    parser.add_argument(
        "--busy", type=int, default=4, help="processes that compute beside the tests (default: 4)"
    )
    parser.add_argument("--seed", type=int, help="of what is disturbed when (default: another one each time)")
    options, rest = parser.parse_known_args()
    random.seed(options.seed)
    command = [sys.executable, "-m", "pytest", "-p", "tests.shake", *rest]
    with (
        busy(options.busy),
        subprocess.Popen(command, env={**os.environ, TIMES: str(options.times)}) as tests,
    ):
        try:
            return shake(tests)
        except KeyboardInterrupt:
            return tests.wait(60)  # it has had the same one


if __name__ == "__main__":
    sys.exit(main())
