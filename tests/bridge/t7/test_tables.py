"""Tables of .t7 files read fast: what the two forms hold is the same, wherever the window ends and whatever is odd."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import t7

KEYS: tuple[Any, ...] = ("", "id", "name", "x" * 40, "grün", 0, 1, 2, 3, -1, 1.5, 2**53, True, False, b"\xff")


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def number(value: float) -> bytes:
    return ints(1) + struct.pack("<d", value)


def string(text: bytes) -> bytes:
    return ints(2, len(text)) + text


def anything(chance: random.Random, made: list[Any], depth: int = 0) -> Any:
    """Make a value of every plain kind, tables that are shared and that hold themselves among them."""
    kind = chance.randrange(9 if depth < 6 else 5)
    if kind == 0:
        return chance.choice((None, True, False))
    if kind == 1:
        return chance.choice((0, -0.0, 7, -3, 0.5, 1e300, float("inf"), 2**53 - 1))
    if kind in (2, 3):
        return chance.choice(("", "a", "text " * chance.randrange(20), "ü" * 5, b"\xfe\x00"))
    if kind == 4:
        return chance.choice(made) if made else []
    table: Any = [] if kind < 7 else {}
    made.append(table)
    values = [anything(chance, made, depth + 1) for _ in range(chance.randrange(8))]
    if kind < 7:
        table += values
    else:
        keys = [t7.Key(key) if isinstance(key, bool) else key for key in chance.sample(KEYS, len(values))]
        table.update(zip(keys, values, strict=True))
    return table


@pytest.mark.parametrize("seed", range(40))
def test_every_form_gives_the_same(seed: int) -> None:
    """The textual form and the other byte order are read value by value."""
    made: list[Any] = []
    value = [anything(random.Random(seed), made), made]
    data = t7.dumps(value)
    for form in ({"ascii": True}, {"byteorder": "big"}):
        again = t7.loads(t7.dumps(value, **form))  # type: ignore[arg-type]
        assert t7.dumps(again) == t7.dumps(t7.loads(data))
    as_dicts = t7.dumps(t7.loads(data, tables="dict"))
    assert as_dicts == t7.dumps(t7.loads(t7.dumps(value, ascii=True), tables="dict"))


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 1, 3, 4, 5, 7, 8, 11, 12, 13, 19, 20, 24, 40])
def test_tables_go_on_where_the_window_ends(tmp_path: Path, shift: int) -> None:
    rows = [
        {"id": i, "tags": ["a", [i, {"deep": [True, i / 2]}], "b" * 30], "last": None} for i in range(8000)
    ]
    t7.save(["x" * shift, rows], tmp_path / "rows.t7")
    assert t7.load(tmp_path / "rows.t7") == ["x" * shift, rows]


@pytest.mark.parametrize(
    "indices",
    [
        (1, 2, 3, 4),
        (4, 3, 2, 1),
        (2, 1, 4, 3),
        (7, 8, 9, 10),
        (1, 2, 5, 6),
        (1, 3, 2, 2**31 - 1),
        (9, 1, 2, 3),
    ],
)
def test_indices_of_any_kind_lead_to_their_tables(indices: tuple[int, ...]) -> None:
    a, b, c, d = indices
    data = ints(3, a, 5)
    data += number(1) + ints(3, b, 1) + string(b"in") + ints(3, c, 0)
    data += number(2) + ints(3, b) + number(3) + ints(3, c) + number(4) + ints(3, d, 1, 5, 1)
    data += ints(3, a) + number(5) + ints(3, a)
    got = t7.loads(data)
    assert got[0] is got[1]
    assert got[0]["in"] is got[2]
    assert got[3][True] is got[4] is got


@pytest.mark.parametrize(("first", "second"), [(b"k", b"k"), (b"k", b"l")])
def test_a_table_whose_place_is_taken_again_is_still_known(first: bytes, second: bytes) -> None:
    """The second entry of a key replaces the first; the table that was there may be meant later."""
    data = ints(3, 1, 3) + string(first) + ints(3, 2, 1) + number(1) + string(b"kept")
    data += string(second) + number(5) + string(b"again") + ints(3, 2)
    got = t7.loads(data)
    assert got["again"] == ["kept"]
    assert got[second.decode()] == 5


def test_many_arrays_of_middle_size_have_memory_of_their_own() -> None:
    """They share a piece of memory, but neither elements nor a storage."""
    arrays = [np.full(4000 + i, i, np.float32) for i in range(400)]
    for tensors in ("numpy", "torch"):
        got = t7.loads(t7.dumps(arrays), tensors=tensors)  # type: ignore[call-overload]
        got[7][:] = -1
        assert all((np.asarray(a) == i).all() for i, a in enumerate(got) if i != 7)
        assert t7.loads(t7.dumps(got[:3]))[2].shape == (4002,)
        assert len(t7.dumps(got[3])) < 17_000
