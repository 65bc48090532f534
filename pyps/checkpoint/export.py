"""A checkpoint as one file for other programs: numpy's .npz, .safetensors, or Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyps.checkpoint import shards
from pyps.checkpoint.conversion import convert
from pyps.checkpoint.folders import LocalFolder
from pyps.checkpoint.stored import Stored
from pyps.checkpoint.tables import shown
from pyps.dtypes import DTYPES
from pyps.errors import CheckpointError


def export(path: str | Path, file: str | Path, *, table: str | None = None) -> Path:
    """Write all keys of a table of a checkpoint with their values and what the optimizer keeps, sorted by keys.

    ============ ==============================================================================================
    .npz         arrays ``keys.LENGTH`` (n,), ``values.LENGTH`` (n, length), ``sums.LENGTH`` and so on, for each
                 length of values; bfloat16, which numpy lacks, as float32
    .safetensors the same as tensors, bfloat16 too
    .parquet     a row for each key with the columns ``key``, ``values``, ``sums`` and so on (needs pyarrow), a
                 row group for each shard, sorted within these
    ============ ==============================================================================================

    The first two hold the whole table in memory.

    Parameters
    ----------
    path : path
        A checkpoint, or a directory with several, of which it takes the newest; a URL as well.
    file : path
        Local. Replaced when the new one is complete.
    table : str, optional
        Its name, needed if there are several; ``""`` stands for the server's own keys.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    CheckpointError
        The checkpoint is damaged, has several tables and none of them is named, or lacks it; the ending is unknown; or
        pyarrow is missing.
    OSError
        The file cannot be written.
    """
    target = Path(file)
    if target.suffix not in WRITERS:
        raise CheckpointError(f"{target} must end with {', '.join(WRITERS)}, which say the format")
    stored = Stored(path)
    if table is not None:
        stored = stored.named(table)
    elif len(stored.manifest.tables) > 1:
        names = shown(one.name for one in stored.manifest.tables)
        raise CheckpointError(f"{stored.path} has tables {names}; one file has one of them: say which")
    stored.require_whole()
    with _replacing(target) as beside:
        WRITERS[target.suffix](stored, beside)
        LocalFolder(beside.parent).sync(beside.name)
    return target


def _whole(stored: Stored) -> Iterator[shards.Group]:
    """Yield a group for each length, sorted by keys."""
    parts: dict[int, list[shards.Group]] = {}
    for shard in stored.table.shards:
        for group in stored.groups(shard):
            parts.setdefault(group.length, []).append(group)
    for _, groups in sorted(parts.items()):
        whole = shards.joined(groups)
        yield replace(whole, checks=None).only(np.argsort(whole.keys))


def _write_npz(stored: Stored, file: Path) -> None:
    arrays: dict[str, Any] = {}
    for group in _whole(stored):
        arrays[f"keys.{group.length}"] = group.keys
        for name, array in _of_numpy(stored, group).items():
            arrays[f"{name}.{group.length}"] = array
    with file.open("wb") as out:
        np.savez(out, **arrays)


def _write_safetensors(stored: Stored, file: Path) -> None:
    shards.write(LocalFolder(file.parent), file.name, stored.table.dtype, _whole(stored), 1)


def _write_parquet(stored: Stored, file: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CheckpointError("Parquet needs pyarrow: pip install pyarrow") from None
    writer = None
    try:
        for shard in stored.table.shards:
            for whole in stored.groups(shard):
                group = whole.only(np.argsort(whole.keys))
                columns = {"key": pa.array(group.keys)}
                for name, array in _of_numpy(stored, group).items():
                    flat = pa.array(array.reshape(-1))
                    starts = np.arange(len(array) + 1, dtype=np.int32) * group.length
                    columns[name] = flat if array.ndim == 1 else pa.ListArray.from_arrays(starts, flat)
                table = pa.table(columns)
                writer = writer or pq.ParquetWriter(file, table.schema)
                writer.write_table(table)
        if writer is None:
            pq.write_table(pa.table({"key": pa.array([], pa.int64())}), file)
    finally:
        if writer is not None:
            writer.close()


def _of_numpy(stored: Stored, group: shards.Group) -> Mapping[str, Any]:
    """Return the fields with values of a dtype that numpy has."""
    if stored.table.dtype != "bfloat16":
        return group.fields
    values = convert(group.fields["values"], DTYPES["bfloat16"], DTYPES["float32"])
    return {**group.fields, "values": values}


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give the name of a file beside the target, which replaces it if the block ends well."""
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(8).hex()}")
    try:
        yield beside
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


WRITERS: Mapping[str, Callable[[Stored, Path], None]] = {
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
    ".parquet": _write_parquet,
}
