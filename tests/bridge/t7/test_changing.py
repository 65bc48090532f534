"""Values and files that change while they are written or read, and files that are none."""

from __future__ import annotations

import os
import struct
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import t7


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def test_what_changes_while_it_is_written_is_an_error() -> None:
    value: dict[str, Any] = {}

    class Changing(dict[str, int]):
        def __iter__(self) -> Any:
            value["more"] = 1
            return super().__iter__()

        def keys(self) -> Any:
            value["more"] = 1
            return super().keys()

    value["a"] = Changing(x=1)
    with pytest.raises(t7.T7Error, match="changed while it was written"):
        t7.dumps(value)


@pytest.mark.slow
def test_a_file_that_gets_shorter_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "model.t7"
    t7.save([np.zeros(100_000) for _ in range(20)], file)
    whole = file.read_bytes()
    stop = threading.Event()

    def cut() -> None:
        while not stop.is_set():
            os.truncate(file, len(whole) // 2)
            file.write_bytes(whole)

    thread = threading.Thread(target=cut)
    thread.start()
    outcomes = set()
    try:
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            try:
                outcomes.add(len(t7.load(file)))
            except t7.T7Error:
                outcomes.add("refused")
    finally:
        stop.set()
        thread.join()
    assert outcomes <= {20, "refused"}


@pytest.mark.slow
def test_memory_that_changes_while_it_is_read_is_an_error_at_most() -> None:
    data = bytearray(t7.dumps([{"a": i, "b": [1, 2, 3]} for i in range(2000)]))
    original = bytes(data)
    stop = threading.Event()

    def change() -> None:
        place = 12
        while not stop.is_set():
            data[place : place + 4] = ints(3)
            data[:] = original
            place = (place * 7 + 4) % (len(data) - 8)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            with memoryview(bytes(data)) as view:
                try:
                    t7.loads(view)
                except t7.T7Error:
                    continue
    finally:
        stop.set()
        thread.join()


def test_a_missing_file_and_a_directory_are_the_systems_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        t7.load(tmp_path / "none.t7")
    with pytest.raises(IsADirectoryError):
        t7.load(tmp_path)


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(t7.dumps([1, 2])))
    writer.start()
    try:
        assert t7.load(pipe) == [1, 2]
    finally:
        writer.join()
