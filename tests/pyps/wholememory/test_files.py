"""Files of numpy, safetensors, torch and raw parts: what others wrote is loaded, what is stored they read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from pyps import wholememory as wm
from pyps.wholememory import files
from tests.pyps.wholememory.crew import results

KINDS = [".npy", ".safetensors", ".pt", "parts"]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool]


@pytest.fixture(autouse=True)
def several_blocks(one_rank: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 1000)


def values(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(101 * 7) % (2 if dtype == torch.bool else 251)).view(101, 7).to(dtype)


def write(kind: str, place: Path, tensor: torch.Tensor) -> Path:
    """Write a file as everybody does, without anything of this project."""
    if kind == "parts":
        for number, part in enumerate(tensor.split(26)):
            part.numpy().tofile(place / f"x_part_{number}_of_4")
        return place / "x"
    path = place / f"x{kind}"
    if kind == ".npy":
        np.save(path, tensor.numpy())
    elif kind == ".safetensors":
        safetensors.torch.save_file({"tensor": tensor}, path)
    else:
        torch.save(tensor, path)
    return path


def read(kind: str, path: Path, tensor: torch.Tensor) -> torch.Tensor:
    if kind == "parts":
        parts = [np.fromfile(f"{path}_part_{n}_of_2", tensor.numpy().dtype) for n in range(2)]
        return torch.from_numpy(np.concatenate(parts)).view(tensor.shape)
    if kind == ".npy":
        return torch.from_numpy(np.load(path))
    if kind == ".safetensors":
        return safetensors.torch.load_file(path)["tensor"]
    found: torch.Tensor = torch.load(path)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_others_wrote_is_loaded_and_what_is_stored_they_read(
    kind: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    expected = values(dtype)
    a = wm.create_tensor([101, 7], [], dtype, True, [])
    wm.load(a, write(kind, tmp_path, expected), threads=3)
    assert torch.equal(a, expected)
    out = tmp_path / ("out" + ("" if kind == "parts" else kind))
    if kind == "parts":
        for part, some in enumerate(a.split(51)):
            wm.store(some, out, part=part, parts=2, threads=2)
    else:
        wm.store(a, out, threads=2)
    assert torch.equal(read(kind, out, expected), expected)
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_range_of_rows_is_loaded_into_a_slice(kind: str, tmp_path: Path) -> None:
    expected = values()
    a = wm.create_tensor([101, 7], [], torch.float32, True, [])
    path = write(kind, tmp_path, expected)
    for rows in (range(20, 80), range(100, 101), range(30, 30)):
        a.zero_()
        wm.load(a[rows.start : rows.stop], path, rows=rows)
        assert torch.equal(a[rows.start : rows.stop], expected[rows.start : rows.stop])
        assert a.abs().sum() == expected[rows.start : rows.stop].abs().sum()


@pytest.mark.parametrize("kind", [".npy", ".safetensors", "parts"])
def test_a_range_of_rows_is_replaced_in_a_file(kind: str, tmp_path: Path) -> None:
    expected = values()
    path = write(kind, tmp_path, expected)
    wm.store(torch.full((40, 7), -1.0), path, rows=range(20, 60))
    expected[20:60] = -1
    a = wm.create_tensor([101, 7], [], torch.float32, True, [])
    wm.load(a, path)
    assert torch.equal(a, expected)


def test_columns_and_other_strides_are_filled(tmp_path: Path) -> None:
    expected = values()
    a = wm.create_tensor([101, 7], [1, 101], torch.float32, True, [])
    wm.load(a, write(".npy", tmp_path, expected))
    assert torch.equal(a, expected)


def test_bfloat16_goes_to_safetensors_and_torch_and_not_to_numpy(tmp_path: Path) -> None:
    expected = values(torch.bfloat16)
    a = wm.create_tensor([101, 7], [], torch.bfloat16, True, [])
    for kind in (".safetensors", ".pt"):
        wm.load(a.zero_(), write(kind, tmp_path, expected))
        assert torch.equal(a, expected)
    with pytest.raises(ValueError, match=r"numpy has no torch.bfloat16; store it as \.safetensors"):
        wm.store(a, tmp_path / "x.npy")


def test_one_of_several_tensors_is_named(tmp_path: Path) -> None:
    both = {"a": values(), "b": values() + 1}
    safetensors.torch.save_file(both, tmp_path / "x.safetensors")
    torch.save(both, tmp_path / "x.pt")
    a = wm.create_tensor([101, 7], [], torch.float32, True, [])
    for path in (tmp_path / "x.safetensors", tmp_path / "x.pt"):
        wm.load(a, path, name="b")
        assert torch.equal(a, both["b"])
        with pytest.raises(ValueError, match="holds a, b; name=None is none of them"):
            wm.load(a, path)


def test_a_part_of_a_table_is_stored_alone_by_torch(tmp_path: Path) -> None:
    a = wm.create_tensor([1 << 20, 4], [], torch.float32, True, [])
    wm.store(a[5:7], tmp_path / "x.pt")
    assert (tmp_path / "x.pt").stat().st_size < 10_000


@pytest.mark.parametrize("kind", [".npy", ".safetensors", "parts"])
def test_a_file_that_is_not_whole_is_refused(kind: str, tmp_path: Path) -> None:
    path = write(kind, tmp_path, values())
    victim = path if kind != "parts" else tmp_path / "x_part_3_of_4"
    victim.write_bytes(victim.read_bytes()[:-10])
    a = wm.create_tensor([101, 7], [], torch.float32, True, [])
    with pytest.raises(ValueError, match=r"not whole|no whole rows"):
        wm.load(a, path)
    assert not a.any()


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    path = write(".npy", tmp_path, values())
    a = wm.create_tensor([101, 7], [], torch.float32, True, [])
    with pytest.raises(
        ValueError, match=r"holds \[101, 7\] of torch.float32 in these rows, the tensor is \[100, 7\]"
    ):
        wm.load(a[:100], path)
    with pytest.raises(ValueError, match=r"rows is range\(50, 102\); .* has rows 0 to 100"):
        wm.load(a, path, rows=range(50, 102))
    with pytest.raises(FileNotFoundError, match="part_0_of_"):
        wm.load(a, tmp_path / "none")
    (tmp_path / "y_part_1_of_2").write_bytes(b"")
    with pytest.raises(ValueError, match=r"parts \[0\] are missing"):
        wm.load(a, tmp_path / "y")
    np.save(tmp_path / "f.npy", np.asfortranarray(values().numpy()))
    with pytest.raises(ValueError, match="ascontiguousarray"):
        wm.load(a, tmp_path / "f.npy")


def test_ranks_load_one_tensor_together(tmp_path: Path) -> None:
    expected = values()
    source = """
a = wm.create_tensor([101, 7], [], torch.float32, True, [])
mine = range(101 * rank // size, 101 * (rank + 1) // size)
wm.load(a[mine.start:mine.stop], given, rows=mine)
wm.barrier()
result = a.sum().item()
wm.barrier()
"""
    path = write("parts", tmp_path, expected)
    assert results(source, 3, given=[path] * 3) == [expected.sum().item()] * 3


def test_a_store_that_fails_leaves_the_former_file(tmp_path: Path) -> None:
    path = write(".npy", tmp_path, values())
    before = path.read_bytes()
    with pytest.raises(ValueError, match="numpy has no"):
        wm.store(torch.zeros(3, dtype=torch.bfloat16), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
