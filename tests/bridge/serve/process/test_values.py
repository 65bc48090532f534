"""What comes from another process is checked: neither its words nor its memory are trusted."""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bridge.serve.process.area import Area
from bridge.serve.process.channel import LONGEST, Channel, Closed
from bridge.serve.process.values import packed, unpacked


@pytest.fixture
def area() -> Iterator[Area]:
    made = Area.create()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, Channel]]:
    theirs, ours = socket.socketpair()
    channel = Channel(ours)
    yield theirs, channel
    theirs.close()
    channel.close()


VALUE = {"x": [np.arange(6, dtype="f4").reshape(2, 3), b"\x00\xff"], "y": {"z": [1, None, "text", 2.5]}}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def test_arrays_lie_apart_and_are_shared(area: Area) -> None:
    tree = packed([np.ones(3), np.zeros((2, 5), "u1"), np.ones(1)], area)
    first, second, third = unpacked(tree, area, copy=False)
    first += 1
    assert unpacked(tree, area, copy=True)[0].tolist() == [2, 2, 2]
    assert (second.any(), third.tolist()) == (False, [1])


def test_arrays_stay_valid_when_the_area_grows_and_closes(area: Area) -> None:
    (early,) = unpacked(packed([np.arange(4.0)], area), area, copy=False)
    packed(np.zeros(1_000_000), area)
    area.close()
    assert early.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)], ids=str)
def test_arrays_of_any_number_of_elements(area: Area, shape: tuple[int, ...]) -> None:
    back = unpacked(packed(np.ones(shape), area), area, copy=True)
    assert (back.shape, back.sum()) == (shape, np.ones(shape).sum())


def test_the_memory_cannot_be_made_smaller(area: Area) -> None:
    area.room(np.dtype("f8"), (10,))
    with pytest.raises(PermissionError):
        os.ftruncate(area.descriptor, 0)


@pytest.mark.parametrize(
    "tree",
    [
        {"a": ["d", [1 << 40], 0]},
        {"a": ["d", [2], 1 << 20]},
        {"a": ["d", [2], -8]},
        {"a": ["d", [-2, -2], 0]},
        {"a": ["d", [1 << 62, 4], 0]},
        {"a": ["d", [0, 1 << 62, 1 << 62], 0]},
        {"a": ["O", [1], 0]},
        {"a": ["S9", [1], 0]},
        {"a": ["d", "2", 0]},
        {"a": ["d", [2.0], 0]},
        {"a": ["d", [2]]},
        {"l": 3},
        {"d": [[1]]},
        {"d": [[{"l": []}, 1]]},
        {"b": 3},
        {"q": []},
        {"l": [], "d": []},
        {},
        [1],
    ],
    ids=str,
)
def test_what_was_never_packed_is_refused(area: Area, tree: Any) -> None:
    area.room(np.dtype("f8"), (10,))
    with pytest.raises(ValueError, match=r"\w"):
        unpacked(tree, area, copy=True)


def test_deep_values_are_refused_both_ways(area: Area) -> None:
    value: Any = 1
    tree: Any = 1
    for _ in range(300):
        value, tree = [value], {"l": [tree]}
    with pytest.raises(ValueError, match="200 lists and dicts"):
        packed(value, area)
    with pytest.raises(ValueError, match="nested too deep"):
        unpacked(tree, area, copy=True)


@pytest.mark.slow
def test_damaged_trees_are_values_or_refused(area: Area) -> None:
    """Whatever one change makes of a tree is read as some value, or raises ValueError."""
    import json

    text = json.dumps(packed(VALUE, area))
    assert same(unpacked(json.loads(text), area, copy=True), VALUE)
    rng = random.Random(1)
    read = refused = 0
    for _ in range(20_000):
        place = rng.randrange(len(text))
        damaged = text[:place] + rng.choice('0123456789"[]{},:-adlbe ') + text[place + 1 :]
        try:
            tree = json.loads(damaged)
        except ValueError:
            continue
        try:
            unpacked(tree, area, copy=True)
            read += 1
        except ValueError:
            refused += 1
    assert min(read, refused) > 100


def test_messages_go_through_whole(pair: tuple[socket.socket, Channel]) -> None:
    theirs, channel = pair
    other = Channel(theirs)
    other.send({"a": ["x" * 1000, 1.5]})
    assert channel.receive(5) == {"a": ["x" * 1000, 1.5]}


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("<I", LONGEST + 1),
        struct.pack("<I", 3) + b"{]}",
        struct.pack("<I", 2) + b"\xff\xfe",
        struct.pack("<I", 200_000) + b"[" * 200_000,
    ],
    ids=["too long", "no JSON", "no text", "too deep"],
)
def test_what_is_no_message_is_refused(pair: tuple[socket.socket, Channel], sent: bytes) -> None:
    theirs, channel = pair
    theirs.settimeout(5)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    theirs.sendall(sent)
    with pytest.raises(ValueError, match=r"\w"):
        channel.receive(5)


@pytest.mark.parametrize("sent", [b"", b"\x05", struct.pack("<I", 5) + b"[1"])
def test_half_a_message_is_the_other_s_end_or_too_late(
    pair: tuple[socket.socket, Channel], sent: bytes
) -> None:
    theirs, channel = pair
    theirs.sendall(sent)
    with pytest.raises(TimeoutError):
        channel.receive(0.1)
    theirs.close()
    with pytest.raises(Closed):
        channel.receive(5)


@pytest.mark.slow
def test_a_message_that_nobody_reads_ends_in_time(pair: tuple[socket.socket, Channel]) -> None:
    _, channel = pair
    with pytest.raises(TimeoutError):
        channel.send("x" * (8 << 20), 0.2)
    with pytest.raises(ValueError, match="bytes beside the arrays"):
        channel.send("x" * (LONGEST + 1), 1)
