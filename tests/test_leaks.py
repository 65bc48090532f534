"""The leak check of conftest.py notices each kind of leak."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing import shared_memory
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def leaks() -> ModuleType:
    spec = spec_from_file_location("leak_checks", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def a_thread() -> Iterator[str]:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="stays")
    thread.start()
    yield "thread stays"
    end.set()
    thread.join()


@contextmanager
def a_child() -> Iterator[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    yield f"child process {child.pid}"
    child.communicate(b"\n")


@contextmanager
def a_socket() -> Iterator[str]:
    with socket.socket() as opened:
        yield f"descriptor {opened.fileno()} (socket:"


@contextmanager
def a_memory_file() -> Iterator[str]:
    descriptor = os.memfd_create("store")
    yield f"descriptor {descriptor} (/memfd:"
    os.close(descriptor)


@contextmanager
def a_segment() -> Iterator[str]:
    segment = shared_memory.SharedMemory(create=True, size=64)
    yield f"shared memory /dev/shm/{segment.name}"
    segment.close()
    segment.unlink()


@pytest.mark.parametrize("opened", [a_thread, a_child, a_socket, a_memory_file, a_segment])
def test_what_stays_open_is_reported_until_it_is_closed(
    leaks: ModuleType, opened: Callable[[], Iterator[str]]
) -> None:
    before = leaks.in_use()
    with opened() as name:  # type: ignore[attr-defined]
        assert any(name in leaked for leaked in leaks.leaked_since(before, patience=0))
    assert leaks.leaked_since(before) == []


OTHER = """
import mmap, os, sys
if os.fork() == 0:
    with open(sys.argv[1], "w+b") as file:
        file.truncate(64)
        shared = mmap.mmap(file.fileno(), 64)
    print("mapped", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_what_another_program_shares_is_not_reported(leaks: ModuleType) -> None:
    segment = Path(f"/dev/shm/other-{os.getpid()}")
    before = leaks.in_use()
    read, write = os.pipe()
    starter = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(segment)], stdin=read, stdout=subprocess.PIPE, text=True
    )
    os.close(read)
    assert starter.stdout is not None
    try:
        assert starter.stdout.readline() == "mapped\n"
        assert starter.wait(10) == 0  # what it started is nobody's child here from now on
        assert leaks.leaked_since(before, patience=0) == []
    finally:
        os.close(write)
        starter.stdout.read()  # until the other has ended
        starter.stdout.close()
    assert leaks.leaked_since(before, patience=0) == [f"shared memory {segment}"]
    segment.unlink()
