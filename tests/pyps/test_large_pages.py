"""A store's memory is in large pages, where the system has some, for every process that uses it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps

KEYS = 1_000_000
BYTES = 40 * KEYS  # of values


def mapped_large() -> int:
    """Return the bytes of shared memory that this process sees in large pages."""
    found = re.search(
        r"^ShmemPmdMapped:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE
    )
    assert found is not None
    return 1024 * int(found[1])


def system_has_some() -> bool:
    """Return whether this kernel makes large pages of shared memory when it is asked to."""
    version = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
    return version >= (6, 1) and Path("/sys/kernel/mm/transparent_hugepage").exists()


def pull_everything(kv: pyps.Worker) -> bool:
    """Return whether all values are zero."""
    values = np.ones((KEYS, 10), np.float32)
    kv.pull(np.arange(KEYS), values)
    return not values.any()


@pytest.mark.slow
def test_the_server_has_them() -> None:
    before = mapped_large()
    with pyps.Server(KEYS, 10) as server, server.worker() as kv:
        assert pull_everything(kv)
        assert (mapped_large() - before > BYTES) == system_has_some()
        assert server.stats()["committed_bytes"] <= 56 * KEYS
    assert mapped_large() == before


@pytest.mark.slow
def test_who_attaches_has_them_too(program: Any) -> None:
    process = program(
        f"server = pyps.Server({KEYS}, 10)\nprint(server.address, flush=True)\nsys.stdin.readline()\nserver.shutdown()"
    )
    before = mapped_large()
    with pyps.attach(process.stdout.readline().strip()) as node, node.worker() as kv:
        assert pull_everything(kv)
        assert (mapped_large() - before > BYTES) == system_has_some()


@pytest.mark.slow
def test_what_comes_key_by_key_has_them_in_the_end() -> None:
    before, at_once = mapped_large(), 10_000
    with pyps.Server(value_length=10, capacity=KEYS) as server, server.worker() as kv:
        for first in range(0, KEYS, at_once):
            kv.push(np.arange(first, first + at_once), np.ones((at_once, 10), np.float32))
        assert (kv.pull(np.arange(KEYS)) == 1).all()
        assert (mapped_large() - before > BYTES) == system_has_some()
        assert server.stats()["committed_bytes"] <= (40 + 32) * KEYS
    assert mapped_large() == before


def test_a_small_store_stays_small() -> None:
    with pyps.Server(100, 10) as server:
        assert server.stats()["committed_bytes"] < 1_000_000


@pytest.mark.slow
def test_what_leaves_is_given_back() -> None:
    with pyps.Server(KEYS, 10, num_nodes=2) as one, pyps.Server(KEYS, 10, num_nodes=2, rank=1) as other:
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in (one, other)]
        one.connect(endpoints)
        other.connect(endpoints)
        full = one.stats()["committed_bytes"]
        with other.worker() as kv:
            kv.localize(np.arange(0, KEYS, 2))
        assert one.stats()["committed_bytes"] < full - BYTES // 3
