"""A server's parameters as a part of a checkpoint of torch.distributed.checkpoint (DCP).

DCP calls `state_dict` when it loads, too, to learn what it shall read. So `state_dict` gives a reference, and nothing
is saved before DCP asks that for its write items, which it does in each process when it plans to write, and only then.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pyps.checkpoint.folders import open_folder
from pyps.checkpoint.loading import load
from pyps.checkpoint.places import MANIFEST
from pyps.checkpoint.saving import Options, save
from pyps.errors import CheckpointError
from pyps.node import Node
from pyps.server import Server

if TYPE_CHECKING:
    from typing import Unpack

    from torch.distributed.checkpoint.planner import WriteItem


class Stateful:
    """Parameters of a server that torch.distributed.checkpoint saves and loads together with dense ones.

    The rows are written by `save` into a directory of their own; torch's checkpoint has the name of what was saved and
    its checksum. All processes of a job pass one; where several share a node, that with local rank 0 does the work.

    Parameters
    ----------
    directory : path
        As for `save`. All nodes have to see it.
    node : Node
        Of this process, or attached to.
    **options
        `tables`, `keep`, `full_every` and `timeout` of `save`; `tables` are also those that are loaded. Checkpoints of
        torch whose rows were removed by `keep` cannot be loaded any more.

    Examples
    --------
    >>> import pyps, torch.distributed as dist, torch.distributed.checkpoint as dcp
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> with pyps.Server(1000, 10) as server:
    ...     parts = {"model": torch.nn.Linear(3, 2), "server": Stateful("checkpoints", server)}
    ...     _ = dcp.save(parts, checkpoint_id="dense")
    ...     dcp.load(parts, checkpoint_id="dense")
    >>> dist.destroy_process_group()
    """

    def __init__(self, directory: str | Path, node: Node, **options: Unpack[Options]) -> None:
        self._directory, self._node, self._options = directory, node, options

    def state_dict(self) -> dict[str, Any]:
        """Return a reference; what it refers to is written when torch writes the reference."""
        return {"checkpoint": _Reference(self)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what a reference that was read refers to.

        Raises
        ------
        CheckpointError
            The directory does not have it, has another one of this name, or as `load` does.
        """
        found = state_dict.get("checkpoint")
        if not isinstance(found, dict):
            raise CheckpointError("torch's checkpoint has no reference to a checkpoint of a server")
        if self._takes_part():
            folder = open_folder(self._directory).folder(str(found.get("name")))
            if _sum_of(folder) != found.get("sha256"):
                raise CheckpointError(f"{folder} is not the checkpoint that was saved together with torch's")
            tables, timeout = self._options.get("tables"), self._options.get("timeout", 300.0)
            load(folder.path, self._node, tables=tables, timeout=timeout)
        if self._node.job.world_size != self._node.num_nodes:  # others wait for the process that loads
            import torch.distributed

            torch.distributed.barrier()

    def save(self) -> dict[str, str] | None:
        """Save the rows, as all nodes do; return the reference, or None in a process that has no part in it."""
        if not self._takes_part():
            return None
        folder = open_folder(save(str(self._directory), self._node, **self._options))
        return {"name": folder.name, "sha256": _sum_of(folder)}

    def _takes_part(self) -> bool:
        return isinstance(self._node, Server) or self._node.job.local_rank == 0


class _Reference:
    """What DCP writes in place of the rows: a dict, once they have been saved."""

    def __init__(self, owner: Stateful) -> None:
        self._owner = owner
        self._saved: dict[str, str] | None = None

    def __create_write_items__(self, fqn: str, _: object) -> list[WriteItem]:
        from torch.distributed.checkpoint.metadata import MetadataIndex
        from torch.distributed.checkpoint.planner import WriteItem, WriteItemType

        self._saved = self._owner.save()
        if self._saved is None:
            return []
        return [WriteItem(index=MetadataIndex(fqn), type=WriteItemType.BYTE_IO)]

    def __reduce__(self) -> tuple[type[dict[str, str]], tuple[dict[str, str]]]:
        if self._saved is None:
            raise CheckpointError(
                "a Stateful is saved by torch.distributed.checkpoint, with a planner that flattens (the usual one)"
            )
        return dict, (self._saved,)

    def __deepcopy__(self, _: object) -> Self:
        return self


def _sum_of(folder: Any) -> str:
    try:
        return hashlib.sha256(folder.read(MANIFEST)).hexdigest()
    except OSError as error:
        raise CheckpointError(
            f"{folder}, which torch's checkpoint refers to, cannot be read: {error}"
        ) from None
