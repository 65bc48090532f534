"""The forms that Torch7's files have, the ways to hand one over, and the options of loading."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import t7

DATA = Path(__file__).parents[2] / "data" / "torch7"
FILES = DATA / "files"
ALL = sorted(path.name for path in FILES.glob("*.t7"))
Everything = Callable[[Any], Iterator[Any]]


def loaded(name: str, **options: Any) -> Any:
    return t7.load(FILES / f"{name}.t7", **options)


@pytest.mark.parametrize(
    "name", ["longsize4", "longsize8", "bigendian", "unreferenced", "unreferenced.ascii"]
)
def test_variants_of_the_format_are_found_out(name: str, everything: Everything) -> None:
    value = loaded(name)
    assert not any(isinstance(v, np.ndarray) and v.size == 0 for v in everything(value))
    assert len(list(everything(value))) >= 3


def test_both_sizes_of_long_hold_the_same() -> None:
    assert t7.dumps(loaded("longsize4")) == t7.dumps(loaded("longsize8"))
    assert t7.dumps(loaded("longsize8"), long_size=4) == (FILES / "longsize4.t7").read_bytes()


@pytest.mark.parametrize(
    "value", [np.zeros((2, 3)), np.int64([-1, 5]), [], t7.Storage(np.zeros(0)), np.empty(0), "x"]
)
@pytest.mark.parametrize("long_size", [4, 8])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_the_size_of_long_is_found_out(value: Any, long_size: int, byteorder: Any) -> None:
    data = t7.dumps(value, long_size=long_size, byteorder=byteorder)
    assert t7.dumps(t7.loads(data)) == t7.dumps(value)


def test_torchfiles_option_for_the_size_of_long_is_understood() -> None:
    assert loaded("tensor_Long", force_8bytes_long=True).shape == (3, 4)
    with pytest.raises(t7.T7Error):
        loaded("longsize4", force_8bytes_long=True)


def test_a_file_object_is_read_to_its_end() -> None:
    assert t7.load(io.BytesIO((FILES / "number_int.t7").read_bytes())) == 42


def test_what_follows_the_first_value_is_left_alone() -> None:
    assert t7.loads(t7.dumps([1, 2]) + t7.dumps("next")) == [1, 2]


def test_a_file_larger_than_the_window_is_read(tmp_path: Path) -> None:
    value = {
        "text": "x" * 3_000_000,
        "rows": [np.arange(i, i + 5000.0) for i in range(100)],
        "last": [1, 2, "end"],
    }
    t7.save(value, tmp_path / "big.t7")
    got = t7.load(tmp_path / "big.t7")
    assert got["text"] == value["text"]
    assert all((a == b).all() for a, b in zip(got["rows"], value["rows"], strict=True))
    assert got["last"] == [1, 2, "end"]


def mapped_at(array: Any) -> str:
    """Return the line of this process's maps that has an array's memory."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(part, 16) for part in line.split()[0].split("-"))
        if first <= address < last:
            return line
    return ""


@pytest.mark.slow
def test_aligned_tensors_can_be_private_maps_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "map.t7"
    maps = 0
    for shift in range(8):  # one of these strings makes the data lie aligned
        t7.save(["x" * shift, np.arange(1000.0)], file)
        before = file.read_bytes()
        for tensors in ("numpy", "torch"):
            array = t7.load(file, mmap=True, tensors=tensors)[1]  # type: ignore[call-overload]
            maps += str(file) in mapped_at(np.asarray(array))
            assert array[999] == 999
            array[0] = 5
        assert file.read_bytes() == before
    assert maps == 2


@pytest.mark.parametrize("name", ALL)
def test_every_file_can_be_asked_for_as_a_map(name: str) -> None:
    layouts = {"Truth.Custom": ("object", "int")}
    mapped, read = (t7.load(FILES / name, mmap=mmap, layouts=layouts) for mmap in (True, False))
    assert t7.dumps(mapped) == t7.dumps(read)


@pytest.mark.parametrize(
    "options",
    [{"tensors": "jax"}, {"tables": "set"}, {"long_size": 2}, {"byteorder": "x"}, {"layouts": {"A": ["x"]}}],
)
def test_options_of_load_are_checked(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        t7.loads(t7.dumps(1), **options)


def message(data: bytes, long_size: int | None = None) -> str | None:
    try:
        t7.loads(data, long_size=long_size)
    except t7.T7Error as error:
        return str(error)
    return None


@pytest.mark.parametrize(("long_size", "first"), [(8, 0), (4, 73)])  # 73: where the first size has been read
def test_a_damaged_file_is_reported_by_its_own_size_of_long(long_size: int, first: int) -> None:
    data = t7.dumps([np.arange(3.0), "abc", np.ones((2, 3), "f"), np.arange(5)], long_size=long_size)
    damaged = [data[:end] for end in range(first, len(data))]
    damaged += [data[:at] + b"\xff" + data[at + 1 :] for at in range(first, len(data))]
    told = [(message(one), message(one, long_size)) for one in damaged]
    assert [pair for pair in told if pair[1] and pair[0] != pair[1]] == []
