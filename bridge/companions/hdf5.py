"""HDF5 files for the hdf5 package of Lua, through h5py, which is loaded when the first one is opened."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Numbers that torch has no type for, and the type that holds them.
WIDER = {"bool": "uint8", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
HELD = {"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}


def require() -> None:
    """Refuse to be used without h5py.

    Raises
    ------
    ImportError
        It is not installed.
    """
    if find_spec("h5py") is None:
        raise ImportError(
            "files are read by the Python package h5py, which is missing: pip install 'moontide[hdf5]'"
        )


def open_file(path: str, mode: str) -> Any:
    """Open a file in h5py's modes r, r+, w, w- and a.

    Raises
    ------
    ValueError
        There is no such file, or it is no HDF5 file.
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
    """Return for each child of a group its name, itself, and whether it is a group."""
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
    """Return a dataset's numbers as a tensor of their own type: all, or from first to last (from 1) of each dimension.

    Raises
    ------
    ValueError
        The dataset holds no numbers, or the ranges are not in it.
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
    """Return a new dataset with a tensor's numbers, in chunks and compressed if asked for."""
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
    """Write a tensor's numbers over a part of a dataset."""
    dataset[_slices(dataset, ranges)] = numbers.detach().cpu().contiguous().numpy()


def close(file: Any) -> None:
    """Close a file; its datasets can no longer be read."""
    file.close()
