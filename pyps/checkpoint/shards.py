"""Shards of a checkpoint: files of safetensors with the rows of some keys.

For each length of values, a shard has the tensors ``keys.LENGTH`` (n,), ``values.LENGTH`` (n, length), and one for
each thing that the optimizer keeps, like ``sums.LENGTH``; and ``checks.LENGTH`` (n,), if changes are to be found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps import safetensors_header
from pyps.checkpoint.folders import PIECE, Folder
from pyps.checkpoint.manifest import Shard, Table
from pyps.checkpoint.rows import Keys, row_type
from pyps.dtypes import DTYPES
from pyps.errors import CheckpointError

Array = NDArray[Any]

KINDS = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "uint64": "U64",
}


@dataclass(frozen=True)
class Group:
    """Keys whose values have one length, and the fields of their rows: `values`, and what the optimizer keeps.

    `checks` are those of the rows, if they are known.
    """

    length: int
    keys: Keys
    fields: Mapping[str, Array]
    checks: Array | None = None

    def only(self, which: Array | slice) -> Group:
        """Return some of it."""
        fields = {name: array[which] for name, array in self.fields.items()}
        checks = None if self.checks is None else self.checks[which]
        return Group(self.length, self.keys[which], fields, checks)

    def without_repeats(self) -> Group:
        """Return it with the last row alone of each key."""
        _, from_end = np.unique(self.keys[::-1], return_index=True)
        if len(from_end) == len(self.keys):
            return self
        return self.only(np.sort(len(self.keys) - 1 - from_end))

    def pieces(self) -> Iterator[Group]:
        """Divide it into parts whose values have about `PIECE`."""
        begin = 0
        for part in pieces(self.fields["values"]):
            yield self.only(slice(begin, begin + len(part)))
            begin += len(part)


def pieces(array: Array) -> Iterator[Array]:
    """Divide an array's rows into parts of about `PIECE`."""
    rows = max(PIECE * len(array) // max(array.nbytes, 1), 1)
    return (array[begin : begin + rows] for begin in range(0, len(array), rows))


def joined(groups: Sequence[Group]) -> Group:
    """Return groups of one length, which have the same fields, as one."""
    first = groups[0]
    fields = {name: np.concatenate([group.fields[name] for group in groups]) for name in first.fields}
    checks = None if first.checks is None else np.concatenate([np.asarray(group.checks) for group in groups])
    return Group(first.length, np.concatenate([group.keys for group in groups]), fields, checks)


def write(directory: Folder, file: str, dtype: str, groups: Iterable[Group], round_: int) -> Shard:
    """Write a shard, which is not yet flushed to the disk.

    Parameters
    ----------
    directory : Folder
    file : str
    dtype : str
        Of the values.
    groups : iterable of Group
        One for each length.
    round_ : int
    """
    tensors: list[tuple[str, str, Array]] = []
    rows, lengths = 0, []
    for group in groups:
        rows += len(group.keys)
        lengths.append(group.length)
        tensors.append((f"keys.{group.length}", "I64", group.keys))
        checks = {} if group.checks is None else {"checks": group.checks}
        for name, array in {**group.fields, **checks}.items():
            kind = KINDS[dtype if name == "values" else array.dtype.name]
            tensors.append((f"{name}.{group.length}", kind, array))
    tensors.sort(key=lambda tensor: -tensor[2].itemsize)  # so that all are aligned
    header = safetensors_header.make((name, kind, array.shape, array.nbytes) for name, kind, array in tensors)
    checksum, nbytes = hashlib.sha256(header), len(header)
    with directory.create(file) as out:
        out.write(header)
        for _, _, array in tensors:
            for part in pieces(array):
                plain = np.ascontiguousarray(part).data
                out.write(plain)
                checksum.update(plain)
                nbytes += plain.nbytes
    return Shard(file, rows, tuple(lengths), nbytes, checksum.hexdigest(), round_)


def read(
    directory: Folder, table: Table, shard: Shard, names: Container[str] | None = None
) -> Iterator[Group]:
    """Yield a shard's groups, whose arrays lie in the file if it is a local one.

    Parameters
    ----------
    directory : Folder
        That has the file.
    table : Table
    shard : Shard
    names : container of str, optional
        The fields and checks that are wanted; all, if None.

    Raises
    ------
    CheckpointError
        It is missing or damaged.
    """
    for length, described in _described(directory, table, shard).items():
        mapped = {}
        for name, (dtype, shape, begin) in described.items():
            if name == "keys" or names is None or name in names:
                elements = int(np.prod(shape))
                array = _array(directory, shard, dtype, begin, elements) if elements else np.empty(0, dtype)
                mapped[name] = array.reshape(shape)
        yield Group(length, mapped.pop("keys"), mapped, mapped.pop("checks", None))


def _array(directory: Folder, shard: Shard, dtype: Any, begin: int, elements: int) -> Array:
    try:
        return directory.array(shard.file, dtype, begin, elements)
    except OSError as error:
        raise CheckpointError(f"shard {shard.file} of {directory} cannot be read: {error}") from None


def verify(directory: Folder, shard: Shard) -> None:
    """Compare a shard with its checksum; CheckpointError if it is missing or damaged."""
    checksum, nbytes = hashlib.sha256(), 0
    try:
        for piece in directory.pieces(shard.file):
            checksum.update(piece)
            nbytes += len(piece)
    except OSError as error:
        raise CheckpointError(f"shard {shard.file} of {directory} cannot be read: {error}") from None
    if nbytes != shard.nbytes:
        raise CheckpointError(
            f"shard {shard.file} of {directory} has {nbytes} bytes of {shard.nbytes}: it is torn"
        )
    if checksum.hexdigest() != shard.sha256:
        raise CheckpointError(f"shard {shard.file} of {directory} is damaged: its checksum is another one")


def _described(
    directory: Folder, table: Table, shard: Shard
) -> dict[int, dict[str, tuple[Any, tuple[int, ...], int]]]:
    """Return for each length the tensors with their dtypes, shapes and places, if these are what they must be."""
    try:
        header, begins = safetensors_header.parse(
            lambda begin, end: directory.read(shard.file, begin, end), shard.file
        )
        size = directory.size(shard.file)
        found: dict[int, dict[str, tuple[Any, tuple[int, ...], int]]] = {}
        extra = {"checks": np.dtype("uint64")} if table.has_checks else {}
        rows = 0
        for length in sorted({int(name.rpartition(".")[2]) for name in header}):
            row = row_type(length, DTYPES[table.dtype], table.optimizer)
            count = int(header[f"keys.{length}"]["shape"][0])
            rows += count
            fields = {"keys": np.dtype("int64"), **extra}
            fields |= {name: row[name] for name in row.names or ()}
            for name, wanted in fields.items():
                tensor = header.pop(f"{name}.{length}")
                kind = KINDS[table.dtype if name == "values" else wanted.base.name]
                shape, (begin, end) = (count, *wanted.shape), tensor["data_offsets"]
                nbytes = wanted.itemsize * count
                if tensor["dtype"] != kind or tensor["shape"] != list(shape) or end - begin != nbytes:
                    raise ValueError(f"{name}.{length} is not {kind} of shape {shape}")
                if not 0 <= begin <= end <= size - begins:
                    raise ValueError(f"{name}.{length} lies outside of the file")
                found.setdefault(length, {})[name] = (wanted.base, shape, begins + begin)
        if header or rows != shard.rows:
            raise ValueError(
                f"it has {rows} rows of {shard.rows}, and {', '.join(header) or 'nothing'} beside them"
            )
    except OSError as error:
        raise CheckpointError(f"shard {shard.file} of {directory} cannot be read: {error}") from None
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise CheckpointError(
            f"shard {shard.file} of {directory} is not what the manifest says: {error}"
        ) from None
    return found
