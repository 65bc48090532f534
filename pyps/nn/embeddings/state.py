"""Rows in a state dict: ``weight`` as in torch's modules, or ``keys`` and ``rows`` where ids are any numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pyps.nn.embeddings.ids import Ids
from pyps.nn.embeddings.rows import Rows

AT_ONCE = 1 << 24  # elements of rows that one pull or set has


@dataclass(frozen=True)
class Entry:
    """Rows that a state dict has, which were checked.

    Attributes
    ----------
    ids : Ids
        Of which embedding.
    known : int64 tensor, shape (n,)
        The ids that have the rows.
    rows : floating-point tensor, shape (n, ids.dim)
    """

    ids: Ids
    known: torch.Tensor
    rows: torch.Tensor

    def set(self, at: Rows) -> None:
        """Set the rows at the server; what its optimizer has kept for them is gone."""
        piece = max(1, AT_ONCE // self.ids.dim)
        for known, rows in zip(torch.split(self.known, piece), torch.split(self.rows, piece), strict=True):
            at.kv.set(self.ids.keys(known), rows.detach().to("cpu", at.dtype).contiguous())


def names(ids: Ids) -> tuple[str, ...]:
    """Return what the entries of an embedding are called."""
    return ("keys", "rows") if ids.num is None else ("weight",)


def export(at: Rows, ids: Ids, prefix: str) -> dict[str, torch.Tensor]:
    """Pull all rows of an embedding.

    Returns
    -------
    dict of str to tensor
        ``weight`` of shape (num, dim), in the table's dtype; or ``keys``, int64 of shape (n,), and ``rows`` of shape
        (n, dim) of those that exist.

    Raises
    ------
    RuntimeError
        Ids are any numbers, and the rows are on several nodes, each of which knows its own keys only.
    """
    if ids.num is not None:
        return {f"{prefix}weight": _pulled(at, ids, torch.arange(ids.num))}
    if at.table.num_nodes > 1:
        raise RuntimeError(
            f"the ids of {ids.name} are any numbers, and its rows are on {at.table.num_nodes} nodes, which know their "
            "own keys only: save them by pyps.checkpoint, and make the module with persistent=False"
        )
    low, high = (limit + ids.first for limit in ids.limits())
    there = at.kv.keys()
    held = [keys[(keys >= low) & (keys <= high)] for keys in there]
    known = torch.from_numpy(np.concatenate([np.empty(0, np.int64), *held]) - ids.first)
    return {f"{prefix}keys": known, f"{prefix}rows": _pulled(at, ids, known)}


def _pulled(at: Rows, ids: Ids, known: torch.Tensor) -> torch.Tensor:
    rows = torch.empty(len(known), ids.dim, dtype=at.dtype)
    piece = max(1, AT_ONCE // ids.dim)
    for some, part in zip(torch.split(known, piece), torch.split(rows, piece), strict=True):
        at.kv.pull(ids.keys(some), part)
    return rows


def read(
    ids: Ids, state_dict: Mapping[str, Any], prefix: str, missing: list[str], errors: list[str]
) -> Entry | None:
    """Return the rows that a state dict has for an embedding.

    Returns
    -------
    Entry or None
        None if an entry is missing or does not fit; then `missing` or `errors` says so.
    """
    entries: dict[str, Any] = {name: state_dict.get(prefix + name) for name in names(ids)}
    if absent := [prefix + name for name, entry in entries.items() if entry is None]:
        missing += absent
        return None
    *_, rows = entries.values()
    known = torch.arange(ids.num) if ids.num is not None else entries["keys"]
    try:
        _check(ids, known, rows)
    except (IndexError, TypeError, ValueError) as error:
        errors.append(f"{' and '.join(prefix + name for name in entries)}: {error}")
        return None
    return Entry(ids, known, rows)


def _check(ids: Ids, known: Any, rows: Any) -> None:
    if not isinstance(known, torch.Tensor) or known.dtype != torch.int64 or known.dim() != 1:
        raise TypeError(f"the keys must be an int64 tensor of one dimension, not {_shown(known)}")
    if not isinstance(rows, torch.Tensor) or not rows.is_floating_point():
        raise TypeError(f"the rows must be a floating-point tensor, not {_shown(rows)}")
    if rows.shape != (len(known), ids.dim):
        raise ValueError(f"the rows have the shape {tuple(rows.shape)}, not {(len(known), ids.dim)}")
    if ids.num is None:
        ids.check(known)


def _shown(entry: Any) -> str:
    if not isinstance(entry, torch.Tensor):
        return type(entry).__name__
    return f"{str(entry.dtype).removeprefix('torch.')} of shape {tuple(entry.shape)}"
