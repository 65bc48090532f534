"""The checkpoint that another one is built upon: which it is, and what is taken from it."""

from __future__ import annotations

import logging
from dataclasses import replace

from pyps._core import Node
from pyps.checkpoint import places
from pyps.checkpoint.checks import Known
from pyps.checkpoint.folders import Folder
from pyps.checkpoint.manifest import Manifest, Shard, Table, read
from pyps.checkpoint.state import state_of
from pyps.checkpoint.stored import Stored
from pyps.errors import CheckpointError

logger = logging.getLogger(__name__)


def base_for(directory: Folder, full_every: int) -> tuple[str, Manifest] | None:
    """Return name and manifest of the checkpoint that the next one may be built upon; None: it has all rows."""
    newest = places.newest(directory) if full_every > 1 else None
    if newest is None:
        return None
    try:
        manifest = read(newest)
    except CheckpointError as error:
        logger.warning("the next checkpoint has all rows: %s", error)
        return None
    return (newest.name, manifest) if manifest.earlier + 1 < full_every else None


def fits(table: Table, node: Node) -> bool:
    """Tell whether a table of an earlier checkpoint is one of the same kind that tells what has changed."""
    return (
        table.has_checks
        and not table.has_repeats
        and table.num_keys == node.num_keys
        and table.dtype == node.dtype.name
        and table.optimizer.partition(":")[0] == node.optimizer_text().partition(":")[0]
        and (not node.value_length or set(table.value_lengths) <= {node.value_length})
        and state_of(table.optimizer) == state_of(node.optimizer_text())
    )


def open_base(directory: Folder, base: str, table: str) -> tuple[Stored, Known] | tuple[None, None]:
    """Open a table of a checkpoint and read the checks of its rows; None twice if it is damaged."""
    try:
        stored = Stored(directory.folder(base).path).named(table)
        return stored, Known(stored)
    except CheckpointError as error:
        logger.warning("the next checkpoint has all rows, as the one before is damaged: %s", error)
        return None, None


def shards_below(base: Stored) -> list[Shard]:
    """Return the shards of a checkpoint as those of one that is built upon it."""
    return [
        replace(shard, checkpoint=shard.checkpoint or base.manifest.number) for shard in base.table.shards
    ]
