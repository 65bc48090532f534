"""HDF5 files for the Lua package hdf5, by h5py, which is imported when the first file is opened."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Types of numbers that Torch7 has no tensor for, and the type that can hold them.
WIDER = {"bool": "uint8", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
HELD = {"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}


def require() -> None:
    """Check that h5py is installed.

    Raises
    ------
    ImportError
        It is not.
    """
    if find_spec("h5py") is None:
        raise ImportError(
            "files are read by the Python package h5py, which is missing: pip install 'moontide[hdf5]'"
        )


def open_file(path: str, mode: str) -> Any:
    """Open a file in one of h5py's modes: r, r+, w, w-, a.

    Raises
    ------
    ValueError
        There is no such file or directory, or the file cannot be opened as HDF5.
    """
    import h5py

    place = Path(path).expanduser()
    if mode in ("r", "r+") and not place.is_file():
        raise ValueError(f"there is no file {path!r}")
    if not place.parent.is_dir():
        raise ValueError(f"there is no directory {str(place.parent)!r}")
    try:
        return h5py.File(place, mode)
    except OSError as error:
        raise ValueError(f"cannot open {path!r}: {error}") from None


def children(group: Any) -> list[list[Any]]:
    """Return [name, child, whether it is a group] for each child of a group."""
    import h5py

    return [[name, child, isinstance(child, h5py.Group)] for name, child in group.items()]


def create_group(parent: Any, name: str) -> Any:
    """Return a new group in another."""
    return parent.create_group(name)


def size(dataset: Any) -> list[int]:
    """Return the sizes of a dataset."""
    return list(dataset.shape or ())


def _slices(dataset: Any, ranges: list[list[int]]) -> tuple[slice, ...]:
    shape = dataset.shape
    if len(ranges) != len(shape):
        raise ValueError(f"dimension mismatch: the dataset has {len(shape)}, {len(ranges)} ranges were given")
    for d, ((first, last), length) in enumerate(zip(ranges, shape, strict=True), 1):
        if not 1 <= first <= last <= length:
            raise ValueError(f"dimension {d} has {length} elements, asked for {first} to {last}")
    return tuple(slice(int(first) - 1, int(last)) for first, last in ranges)


def read(dataset: Any, ranges: list[list[int]] | None = None) -> Tensor:
    """Return a dataset's numbers as a tensor of the same type, or of a larger one if torch lacks it.

    `ranges` has [first, last] (from 1) for each dimension; None: all numbers.

    Raises
    ------
    ValueError
        No tensor can hold the numbers, or the ranges are not within the dataset.
    """
    import numpy
    import torch

    kind = dataset.dtype.name
    if kind not in HELD and kind not in WIDER:
        raise ValueError(f"{dataset.name!r} holds {dataset.dtype}, which no tensor can hold")
    place = ... if ranges is None else _slices(dataset, ranges)
    numbers = numpy.asarray(dataset[place])
    if kind == "uint64" and numbers.size and numbers.max() > numpy.iinfo("int64").max:
        raise ValueError(
            f"{dataset.name!r} holds uint64 numbers above 2^63 - 1, which no LongTensor can hold"
        )
    numbers = numpy.array(numbers, dtype=WIDER.get(kind, numbers.dtype.newbyteorder("=")), order="C", ndmin=1)
    return torch.from_numpy(numbers)


def write(group: Any, name: str, numbers: Tensor, chunks: list[int] | None, level: int | None) -> Any:
    """Return a new dataset with a tensor's numbers. `chunks`: its chunk size; `level`: of gzip; None: without."""
    array = numbers.detach().cpu().contiguous().numpy()
    if chunks is not None:
        if len(chunks) != array.ndim:
            raise ValueError(
                f"chunk size must have as many dimensions as the data: {len(chunks)}, {array.ndim}"
            )
        chunks = [min(int(chunk), length) for chunk, length in zip(chunks, array.shape, strict=True)]
    return group.create_dataset(
        name,
        data=array,
        chunks=tuple(chunks) if chunks else None,
        compression=None if level is None else "gzip",
        compression_opts=None if level is None else int(level),
    )


def assign(dataset: Any, numbers: Tensor, ranges: list[list[int]]) -> None:
    """Write a tensor's numbers into a part of a dataset; `ranges` as for `read`."""
    dataset[_slices(dataset, ranges)] = numbers.detach().cpu().contiguous().numpy()


def close(file: Any) -> None:
    """Close a file; its datasets can no longer be read."""
    file.close()
