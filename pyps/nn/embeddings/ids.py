"""The ids of an embedding: which there may be, their keys at the server, and which of them a batch has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

INT64 = torch.iinfo(torch.int64)


@dataclass(frozen=True)
class Ids:
    """The ids of one embedding, whose keys are the ids and `first`.

    Attributes
    ----------
    name : str
        Of the embedding, for errors.
    dim : int
        Elements of a row.
    num : int or None
        Ids are 0 to ``num - 1``; None: any numbers between `low` and `high`.
    first : int
        The key of id 0.
    """

    name: str
    dim: int
    num: int | None
    first: int = 0
    low: int = INT64.min
    high: int = INT64.max

    def limits(self) -> tuple[int, int]:
        """Return the least and the greatest id that there may be."""
        return (self.low, self.high) if self.num is None else (0, self.num - 1)

    def check(self, ids: torch.Tensor) -> None:
        """Refuse ids that the embedding does not have.

        Parameters
        ----------
        ids : int64 tensor
            Of any shape.

        Raises
        ------
        IndexError
            An id has no row.
        """
        if not ids.numel():
            return
        low, high = self.limits()
        least, greatest = map(int, torch.aminmax(ids))
        if least < low or greatest > high:
            at = tuple(((ids < low) | (ids > high)).nonzero()[0].tolist())
            raise IndexError(
                f"id {int(ids[at])} at position {at} is outside [{low}, {high}], the ids of {self.name}"
            )
        if least <= -1 <= greatest and bool((ids == -1).any()):
            raise IndexError(
                f"id -1 is the only number that is no id of {self.name}; as padding it needs padding_idx=-1"
            )

    def keys(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the keys of ids."""
        return ids + self.first if self.first else ids


@dataclass(frozen=True)
class Batch:
    """What is pulled for a batch, and what is pushed.

    Attributes
    ----------
    ids : Ids
        Of which embedding.
    keys : int64 tensor, shape (n,)
        Of the rows; that of the padding, if the batch has it, is the last one.
    padding : int or None
        The position of the padding's row.
    """

    ids: Ids
    keys: torch.Tensor
    padding: int | None = None

    @property
    def trained(self) -> int:
        """How many rows may have gradients: all but that of the padding."""
        return len(self.keys) if self.padding is None else self.padding

    @property
    def kept(self) -> int:
        """How many rows are at the server: among any numbers, not that of the padding."""
        return len(self.keys) if self.ids.num is not None else self.trained

    def with_padding(self, rows: torch.Tensor) -> torch.Tensor:
        """Return all rows, from those that are at the server: the padding's is zeros among any numbers."""
        missing = len(self.keys) - len(rows)
        return torch.nn.functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def kept_keys(batches: Sequence[Batch]) -> torch.Tensor:
    """Return the keys of the rows of batches that are at the server."""
    return torch.cat([batch.keys[: batch.kept] for batch in batches])


def as_ids(ids: object, what: str = "ids", device: torch.device | None = None) -> torch.Tensor:
    """Return ids as int64 on the CPU.

    Parameters
    ----------
    device : torch.device, optional
        Where they may be as well.

    Raises
    ------
    TypeError
        They are no tensor of int64 or int32.
    ValueError
        They are on another device.
    """
    if not isinstance(ids, torch.Tensor):
        raise TypeError(f"{what} must be a tensor of int64 or int32, not {type(ids).__name__}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(
            f"{what} must be int64 or int32, not {str(ids.dtype).removeprefix('torch.')}: use .long()"
        )
    if ids.device.type not in ("cpu", device and device.type):
        raise ValueError(
            f"{what} must be on the CPU{f' or {device}' if device else ''}, not on device {ids.device}: make the "
            f"module with device={str(ids.device)!r}, so that rows come there"
        )
    return ids.long().cpu()


def as_they_are(ids: torch.Tensor, of: Ids) -> Batch:
    """Take the ids of a batch with their repetitions; parameters and errors are those of `distinct`."""
    of.check(ids)
    return Batch(of, of.keys(ids.reshape(-1)))


def distinct(ids: torch.Tensor, of: Ids, padding_idx: int | None = None) -> tuple[Batch, torch.Tensor]:
    """Take each id of a batch once.

    Parameters
    ----------
    ids : int64 tensor
        Of any shape.
    of : Ids
        The embedding.
    padding_idx : int, optional
        An id that is not trained; among any numbers it need not be one of the embedding.

    Returns
    -------
    Batch
    int64 tensor
        Of the shape of the ids: the position of each one's key.

    Raises
    ------
    IndexError
        An id has no row.
    """
    found, positions = torch.unique(ids, return_inverse=True)
    at = None if padding_idx is None else (found == padding_idx).nonzero().view(-1)
    if at is None or not len(at):
        of.check(ids)
        return Batch(of, of.keys(found)), positions
    last = len(found) - 1
    others = torch.cat((found[: int(at)], found[int(at) + 1 :]))
    of.check(ids[ids != padding_idx])
    positions = torch.where(positions == at, last, positions - (positions > at).long())
    return Batch(of, of.keys(torch.cat((others, found[at]))), last), positions
