"""File formats for tensors: where the elements lie in a file, and the header of a new file.

In all formats rows lie one after another, so a range of rows is a piece of one file, or pieces of several.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from pyps import safetensors_header as headers

SAFETENSORS = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "C64": torch.complex64,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


@dataclass(frozen=True)
class Piece:
    """A range of bytes of a file."""

    path: Path
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Stored:
    """A tensor in files: its dtype, its shape, and the pieces that have its rows, in order."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]

    def rows(self, first: int, last: int) -> list[Piece]:
        """Return the pieces that have the rows from `first` up to, not including, `last`."""
        total = sum(piece.nbytes for piece in self.pieces)
        row = total // self.shape[0] if self.shape and self.shape[0] else total
        begin, end, found = first * row, last * row, []
        for piece in self.pieces:
            low, high = max(begin, 0), min(end, piece.nbytes)
            if low < high:
                found.append(Piece(piece.path, piece.offset + low, high - low))
            begin, end = begin - piece.nbytes, end - piece.nbytes
        return found


def read_npy(path: Path) -> Stored:
    """Find the elements in a file of numpy's."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, is_fortran, dtype = read(file)
        offset = file.tell()
    if dtype.hasobject or not dtype.isnative or dtype.names:
        raise ValueError(f"{path} holds elements of {dtype}, which are none of torch's")
    if is_fortran and sum(n > 1 for n in shape) > 1:
        raise ValueError(f"{path} holds columns one after another; write it by np.ascontiguousarray")
    kind = torch.from_numpy(np.empty(0, dtype)).dtype
    return _whole(path, offset, kind, shape)


def read_safetensors(path: Path, name: str | None) -> Stored:
    """Find the elements of a tensor in a file of safetensors; without a name, of its only tensor."""
    header, begins = headers.read(path)
    found = header[pick(path, list(header), name)]
    if found["dtype"] not in SAFETENSORS:
        raise ValueError(f"{path} holds elements of {found['dtype']}, which are unknown here")
    begin, end = found["data_offsets"]
    stored = _whole(path, begins + begin, SAFETENSORS[found["dtype"]], tuple(found["shape"]))
    if stored.pieces[0].nbytes != end - begin:
        raise ValueError(f"{path} says {end - begin} bytes for {stored.pieces[0].nbytes}: it is damaged")
    return stored


def read_parts(prefix: Path, tensor: torch.Tensor) -> Stored:
    """Find raw rows like the tensor's in ``<prefix>_part_<i>_of_<n>``, or ``part_<i>_of_<n>`` in a directory."""
    files = {}
    counts = set()
    for path in prefix.parent.iterdir() if not prefix.is_dir() else prefix.iterdir():
        found = re.fullmatch(re.escape(_stem(prefix)) + r"part_(\d+)_of_(\d+)", path.name)
        if found:
            files[int(found[1])] = path
            counts.add(int(found[2]))
    if not files:
        raise FileNotFoundError(
            f"there is no {part_path(prefix, 0, 1).name.replace('_1', '_...')} beside {prefix}"
        )
    missing = sorted(set(range(max(counts))) - set(files))
    if len(counts) > 1 or missing:
        raise ValueError(
            f"{prefix} has parts of {sorted(counts)}, and parts {missing} are missing: all of one are needed"
        )
    row = row_bytes(tensor)
    pieces = tuple(Piece(path, 0, path.stat().st_size) for _, path in sorted(files.items()))
    for piece in pieces:
        if row == 0 or piece.nbytes % row:
            raise ValueError(f"{piece.path} has {piece.nbytes} bytes, which are no whole rows of {row}")
    rows = sum(piece.nbytes for piece in pieces) // row
    return Stored(tensor.dtype, (rows, *tensor.shape[1:]), pieces)


def part_path(prefix: Path, part: int, parts: int) -> Path:
    """Return the path of a part's file."""
    directory = prefix if prefix.is_dir() else prefix.parent
    return directory / f"{_stem(prefix)}part_{part}_of_{parts}"


def row_bytes(tensor: torch.Tensor) -> int:
    """Return the bytes of a row."""
    elements = 1
    for size in tensor.shape[1:]:
        elements *= size
    return elements * tensor.element_size()


def npy_header(dtype: torch.dtype, shape: Sequence[int]) -> bytes:
    """Return the header of a file of numpy's."""
    try:
        kind = torch.empty(0, dtype=dtype).numpy().dtype
    except TypeError:
        raise ValueError(f"numpy has no {dtype}; store it as .safetensors or .pt") from None
    buffer = io.BytesIO()
    description = np.lib.format.dtype_to_descr(kind)
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": description, "fortran_order": False, "shape": tuple(shape)}
    )
    return buffer.getvalue()


def safetensors_header(name: str, dtype: torch.dtype, shape: Sequence[int], nbytes: int) -> bytes:
    """Return the header of a file of safetensors with one tensor."""
    kinds = {kind: text for text, kind in SAFETENSORS.items()}
    if dtype not in kinds:
        raise ValueError(f"safetensors has no {dtype}; store it as .pt")
    return headers.make([(name, kinds[dtype], tuple(shape), nbytes)])


def pick(path: Path, names: list[str], name: str | None) -> str:
    """Return the name of the tensor to use: the given one, or that of the only one."""
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        raise ValueError(
            f"{path} holds {', '.join(sorted(names)[:20]) or 'nothing'}; name={name!r} is none of them"
        )
    return name


def _stem(prefix: Path) -> str:
    return "" if prefix.is_dir() else f"{prefix.name}_"


def _whole(path: Path, offset: int, dtype: torch.dtype, shape: tuple[int, ...]) -> Stored:
    nbytes = dtype.itemsize
    for size in shape:
        nbytes *= size
    there = path.stat().st_size - offset
    if there < nbytes:
        raise ValueError(f"{path} ends after {there} of {nbytes} bytes: it is not whole")
    return Stored(dtype, shape, (Piece(path, offset, nbytes),))
