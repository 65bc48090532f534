"""Every test leaves the machine as it found it.

Threads, child processes, sockets and shared memory that stay fail it. What a wider fixture opened before the
test began is not the test's, nor what other programs on the machine share meanwhile; the session as a whole is checked
once more at its end.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.extent import EXTENTS, left_out
from tests.order import put_slow_first, pytest_xdist_make_scheduler
from tests.system import descendants, read

__all__ = ["pytest_xdist_make_scheduler"]  # a hook

# Torch's store asks for the name of each connection. A name server that does not answer then costs 5 s.
os.environ.setdefault("RES_OPTIONS", "timeout:1")
# gRPC's handlers for forks need all of its threads at rest; they can end the child of a process that uses it elsewhere.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

PATIENCE = 5.0  # seconds that a test's threads and processes get to end after it
OWN_THREADS = ("ps-", "ZMQ")  # names of native threads that belong to this project
# Processes that multiprocessing keeps until the interpreter ends.
HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take --extent."""
    parser.addoption(
        "--extent",
        choices=[*EXTENTS, "all"],
        default="all",
        help="quick leaves out slow tests and most rows of large grids, usual long tests and many rows; default: all",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from looking again and again at a million objects of tests, which stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)  # those that the command line leaves out have gone
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the run is not to have, and choose the order."""
    if extent := EXTENTS.get(config.getoption("extent")):
        config.hook.pytest_deselected(items=(left := left_out(items, extent)))
        gone = set(left)
        items[:] = [item for item in items if item not in gone]
    put_slow_first(items)


def python_threads() -> set[str]:
    """Threads that Python knows, without those that end with the interpreter by design."""
    lasting = ("pytest_timeout", "tqdm_monitor")  # the latter of torch's export, where tqdm is installed
    return {f"thread {t.name} ({t.ident})" for t in threading.enumerate() if t.name not in lasting}


def native_threads() -> set[str]:
    """Threads of the server's core and of ZeroMQ, by the names they give themselves."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        name = read(task / "comm").strip()
        if name.startswith(OWN_THREADS):
            found.add(f"native thread {name} ({task.name})")
    return found


def children() -> set[str]:
    """Child processes of every thread; one that ended but was not waited for counts too."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        for pid in read(task / "children").split():
            command = read(Path("/proc") / pid / "cmdline").replace("\0", " ").strip()
            if not any(helper in command for helper in HELPERS):
                found.add(f"child process {pid} ({command or 'ended, not waited for'})")
    return found


def descriptors() -> set[str]:
    """Open sockets and memory files."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # closed since the listing
            continue
        if target.startswith(("socket:", "/memfd:")):
            found.add(f"descriptor {entry.name} ({target})")
    return found


def shared_memory() -> set[str]:
    """Segments in /dev/shm that this user owns."""
    found = set()
    for entry in Path("/dev/shm").iterdir():
        try:
            if entry.stat().st_uid == os.getuid():
                found.add(f"shared memory {entry}")
        except OSError:  # removed since the listing
            continue
    return found


def of_others(leaked: set[str]) -> set[str]:
    """Shared memory among it that is gone by now, or that other programs have mapped and no process here."""
    segments = {}
    for name in leaked:
        if (path := name.removeprefix("shared memory ")) != name:
            segments[name] = _mark_in_maps(Path(path))
    if not segments:  # the maps of all processes are long
        return set()
    here = {os.getpid(), *descendants(os.getpid())}
    ours, theirs = "", ""
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) in here:
            ours += read(process / "maps")
        else:
            theirs += read(process / "maps")
    return {name for name, mark in segments.items() if mark is None or (mark in theirs and mark not in ours)}


def _mark_in_maps(path: Path) -> str | None:
    """Its device and inode: a semaphore is mapped under another name than the one it has in the end."""
    try:
        status = path.stat()
    except OSError:  # removed since the listing
        return None
    return f" {os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x} {status.st_ino} "


RESOURCES: tuple[Callable[[], set[str]], ...] = (
    python_threads,
    native_threads,
    children,
    descriptors,
    shared_memory,
)


def in_use() -> set[str]:
    """Everything of the kinds above that this process holds now."""
    return set().union(*(resource() for resource in RESOURCES))


def leaked_since(before: set[str], patience: float = PATIENCE) -> list[str]:
    """Return what is in use now and was not before, after the patience for endings that are under way."""
    deadline = time.monotonic() + patience
    while leaked := unaccounted(before):
        if time.monotonic() >= deadline:
            break
        gc.collect()
        time.sleep(0.01)
    return sorted(leaked)


def unaccounted(before: set[str]) -> set[str]:
    """Return what is in use now, was not before, and is of this process."""
    leaked = in_use() - before
    return leaked - of_others(leaked)


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_works() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C, and so would every process of the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


Processes = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def processes() -> Iterator[Processes]:
    """Start a process, as `subprocess.Popen` does, whose output is text in a pipe; it is killed with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def one_rank() -> Iterator[None]:
    """Be the one rank of whole memory."""
    from pyps import wholememory as wm

    wm.init_lib()
    wm.mp_init(0, 1)
    yield
    wm.finalize_lib()


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    """Fail a test that leaves a thread, process, socket, memory file or shared segment behind."""
    before = in_use()
    yield
    leaked = leaked_since(before)
    if leaked:
        pytest.fail("left behind: " + "; ".join(leaked), pytrace=False)


@pytest.fixture(autouse=True, scope="session")
def nothing_leaks_at_the_end() -> Iterator[None]:
    """Fail the session for what module and session fixtures left behind."""
    before = in_use()
    yield
    leaked = leaked_since(before)
    if leaked:
        pytest.fail("left behind by the session: " + "; ".join(leaked), pytrace=False)
