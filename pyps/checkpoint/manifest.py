"""The manifest of a checkpoint: its tables, and the shards that have their rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pyps.checkpoint.folders import Folder
from pyps.checkpoint.places import MANIFEST
from pyps.checkpoint.state import state_of
from pyps.dtypes import DTYPES
from pyps.errors import CheckpointError

FORMAT, VERSION = "moontide checkpoint", 3
READABLE = (1, 2, 3)
OWN_KEYS = ""  # the name of a server's own keys among its tables
PLAIN_NAME = re.compile(r"[\w-][\w.-]*")


@dataclass(frozen=True)
class Shard:
    """A file with rows.

    Attributes
    ----------
    file : str
        Its name in the checkpoint's directory.
    rows : int
    lengths : tuple of int
        Those that its values have.
    nbytes : int
    sha256 : str
    round : int
        From 1. A key that is in shards of several rounds has the row of the last one.
    checkpoint : int
        0, or the number of the earlier checkpoint beside this one that has the file.
    """

    file: str
    rows: int
    lengths: tuple[int, ...]
    nbytes: int
    sha256: str
    round: int
    checkpoint: int = 0

    @property
    def age(self) -> tuple[float, int]:
        """What is greater for a shard whose rows are later."""
        return self.checkpoint or math.inf, self.round


@dataclass(frozen=True)
class Table:
    """One table of keys.

    Attributes
    ----------
    name : str
        `OWN_KEYS` for a server's own keys, and for a table that was saved by itself.
    num_keys : int or None
        None: keys are any numbers.
    dtype : str
    value_lengths : tuple of int
        The lengths that values have, sorted.
    optimizer : str
        With all of its settings; empty if pushes add.
    keys : int
        How many keys have a row.
    shards : tuple of Shard
        The earliest first.
    has_checks : bool
        Its shards have checks of the rows, by which a later checkpoint finds what has changed.
    has_repeats : bool
        A key may have several rows in a round, of which the last one counts: it moved and was found on both nodes, or
        it was deleted and made again, and was deleted before another round.
    options : str
        What a named table was made with, as `Node.table_options` has it; empty for others.
    """

    name: str
    num_keys: int | None
    dtype: str
    value_lengths: tuple[int, ...]
    optimizer: str
    keys: int
    shards: tuple[Shard, ...]
    has_checks: bool = False
    has_repeats: bool = False
    options: str = ""


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint has.

    Attributes
    ----------
    tables : tuple of Table
    number : int
    saved : str
        When.
    nodes : int
        How many wrote it.
    earlier : int
        How many earlier ones it is built upon, one after another; 0 if it is a whole one.
    """

    tables: tuple[Table, ...]
    number: int
    saved: str
    nodes: int
    earlier: int = 0
    format: str = field(default=FORMAT)
    version: int = field(default=VERSION)

    @property
    def table(self) -> Table:
        """The first table."""
        return self.tables[0]

    def find(self, name: str) -> Table | None:
        """Return the table of this name; None if there is none."""
        return next((table for table in self.tables if table.name == name), None)

    def write(self, directory: Folder) -> None:
        """Write it and flush it to the disk."""
        directory.write(MANIFEST, (json.dumps(asdict(self), indent=1) + "\n").encode())
        directory.sync(MANIFEST)
        directory.sync()


def read(directory: Folder) -> Manifest:
    """Read a checkpoint's manifest.

    Raises
    ------
    CheckpointError
        There is none, or it is none of this version.
    """
    path = f"{directory}/{MANIFEST}"
    try:
        found = json.loads(directory.read(MANIFEST))
    except OSError as error:
        raise CheckpointError(f"{directory} is no checkpoint: {error}") from None
    except ValueError as error:
        raise CheckpointError(f"{path} is no JSON, so it is damaged: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a manifest of a checkpoint: its format is not {FORMAT!r}")
    if found.get("version") not in READABLE:
        raise CheckpointError(
            f"{path} has version {found.get('version')!r}; this program reads {', '.join(map(str, READABLE))}"
        )
    try:
        manifest = Manifest(
            tables=tuple(_table(table) for table in found["tables"]),
            number=_whole(found["number"]),
            saved=str(found["saved"]),
            nodes=_whole(found["nodes"]),
            earlier=_whole(found.get("earlier", 0)),
        )
        if not manifest.tables:
            raise ValueError("there is no table")
        if len({table.name for table in manifest.tables}) < len(manifest.tables):
            raise ValueError("two tables have one name")
    except KeyError as error:
        raise CheckpointError(f"{path} is damaged: {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None
    return manifest


def _table(found: dict[str, Any]) -> Table:
    if found["dtype"] not in DTYPES:
        raise ValueError(f"dtype {found['dtype']!r} is unknown")
    state_of(found["optimizer"])
    return Table(
        name=str(found["name"]),
        num_keys=None if found["num_keys"] is None else _whole(found["num_keys"]),
        dtype=found["dtype"],
        value_lengths=tuple(_whole(length) for length in found["value_lengths"]),
        optimizer=found["optimizer"],
        keys=_whole(found["keys"]),
        shards=tuple(shard_of(shard) for shard in found["shards"]),
        has_checks=bool(found.get("has_checks", False)),
        has_repeats=bool(found.get("has_repeats", False)),
        options=str(found.get("options", "")),
    )


def shard_of(found: dict[str, Any]) -> Shard:
    """Return a shard that JSON describes; ValueError, TypeError or KeyError if it describes none."""
    if not PLAIN_NAME.fullmatch(found["file"]):
        raise ValueError(f"{found['file']!r} is no name of a shard")
    return Shard(
        found["file"],
        _whole(found["rows"]),
        tuple(_whole(length) for length in found["lengths"]),
        _whole(found["nbytes"]),
        str(found["sha256"]),
        _whole(found["round"]),
        _whole(found.get("checkpoint", 0)),
    )


def shards_as_json(shards: Sequence[Shard]) -> bytes:
    """Return shards as JSON."""
    return json.dumps([asdict(shard) for shard in shards]).encode()


def shards_from_json(text: bytes) -> list[Shard]:
    """Read what `shards_as_json` returns."""
    return [shard_of(found) for found in json.loads(text)]


def _whole(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r} is no whole number")
    return number
