"""Rows on a device that computes: how they come there and their gradients go back, and which of them stay there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from pyps.nn.embeddings.ids import Batch, Ids

Pull = Callable[
    [Sequence[torch.Tensor]], list[torch.Tensor]
]  # of the rows of keys of each embedding, to the CPU


@dataclass(frozen=True)
class DeviceCache:
    """How many rows stay on a module's device, so that batches that use them again need no pull.

    A row stays once it was pulled twice, and for at most `staleness` lookups after that which pulled it, as a replica
    does between two synchronizations: what is pushed meanwhile, by this process too, is in none of these. Pushes go to
    the server as ever, which makes every step.

    Attributes
    ----------
    rows : int
        Of each embedding, at least 1: so many times a row's bytes on the device.
    staleness : int
        At least 1.
    """

    rows: int
    staleness: int

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"rows is {self.rows}; it must be at least 1")
        if self.staleness < 1:
            raise ValueError(
                f"staleness is {self.staleness}; it must be at least 1 lookup, or leave out the cache"
            )


class Front:
    """What is between the rows at a server and a module's device; without a device they stay on the CPU.

    Memory of the CPU that rows and gradients pass through is pinned where the device is a GPU, so that the driver
    copies from it and to it directly.

    Parameters
    ----------
    device : torch.device or str, optional
    cache : DeviceCache, optional
        Which rows stay there.

    Raises
    ------
    ValueError
        This machine has no such device; or there is a cache, but no device.
    """

    def __init__(self, device: torch.device | str | None = None, cache: DeviceCache | None = None) -> None:
        if cache is not None and device is None:
            raise ValueError("cache is for rows on a device: say which one, device='cuda'")
        self.device, self.cache = None if device is None else torch.device(device), cache
        self.is_pinned = self.device is not None and self.device.type == "cuda"
        try:
            torch.empty(0, device=self.device)
        except (AssertionError, NotImplementedError, RuntimeError) as error:  # as torch says it
            raise ValueError(f"device is {device}, which cannot be used: {error}") from error
        self._held: dict[Ids, _Held] = {}

    def pull(self, keys: Sequence[torch.Tensor], of: Sequence[Batch], pull: Pull) -> list[torch.Tensor]:
        """Return rows of the embeddings of batches on the device; those are pulled that are not there.

        Parameters
        ----------
        keys : sequence of int64 tensor, shape (n,)
            On the CPU.
        """
        if self.cache is None:
            return [self.bring(rows) for rows in pull(keys)]
        found = [
            self._held_of(batch.ids, self.cache).find(some) for some, batch in zip(keys, of, strict=True)
        ]
        late = pull([some[~here] for some, (_, here) in zip(keys, found, strict=True)])
        return [
            self._held[batch.ids].take(slots, here, some, self.bring(rows))
            for some, batch, (slots, here), rows in zip(keys, of, found, late, strict=True)
        ]

    def bring(self, rows: torch.Tensor) -> torch.Tensor:
        """Return rows on the device; those of pinned memory come while the CPU goes on."""
        return rows.to(self.device, non_blocking=True)

    def forget(self) -> None:
        """Let all rows be pulled when they are used next."""
        self._held.clear()

    def _held_of(self, ids: Ids, cache: DeviceCache) -> _Held:
        if ids not in self._held:
            self._held[ids] = _Held(cache, self.device)
        return self._held[ids]


class _Held:
    """The rows of one embedding that are on the device, each in the one slot that its key may have.

    A key gets its slot when it is pulled again, so that keys that are used once do not drive out others; and from
    another key only if the row of that is too old, or was not used since it came.
    """

    def __init__(self, cache: DeviceCache, device: torch.device | None) -> None:
        self._staleness, self._device, self._now = cache.staleness, device, 0
        # By slot: its key; the last lookup for which its row may be used, and the last for which no other key may have
        # the slot; the key that was pulled last of those that may have it. -1, which is no key: there is none.
        self._keys, self._last, self._kept, self._pulled = torch.full((4, cache.rows), -1).unbind()
        self._rows: torch.Tensor | None = None

    def find(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Begin a lookup: return each key's slot, and whether it has its row there."""
        self._now += 1
        slots = _mixed(keys).remainder_(len(self._keys))
        last = self._last.take(slots)
        here = (self._keys.take(slots) == keys) & (last >= self._now)
        self._kept.put_(slots.masked_select(here), last.masked_select(here))
        return slots, here

    def take(
        self, slots: torch.Tensor, here: torch.Tensor, keys: torch.Tensor, pulled: torch.Tensor
    ) -> torch.Tensor:
        """Return the rows of all keys, of which the others than those `here` were pulled; keep some of these."""
        if self._rows is None:
            self._rows = pulled.new_empty(len(self._keys), pulled.shape[1])
        rows = pulled
        old = slots.masked_select(here)
        if len(old):
            held = self._rows.index_select(0, self._there(old))
            later = here.cumsum(0)  # how many there are here up to each
            order = torch.where(here, later - 1, torch.arange(len(old), len(old) + len(keys)) - later)
            rows = torch.cat((held, pulled)).index_select(0, self._there(order))
        kept, at = self._keep(slots.masked_select(~here), keys.masked_select(~here))
        self._rows.index_copy_(0, self._there(kept), pulled.index_select(0, self._there(at)))
        return rows

    def _keep(self, slots: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the slots that get other rows, and where the keys stand that get them."""
        is_again = (self._pulled.take(slots) == keys) | (self._keys.take(slots) == keys)
        self._pulled.put_(slots, keys)
        at = (is_again & (self._kept.take(slots) < self._now)).nonzero().view(-1)
        slots, keys = slots.take(at), keys.take(at)
        self._keys.put_(slots, keys)
        has_got_it = self._keys.take(slots) == keys  # of several for one slot
        slots = slots.masked_select(has_got_it)
        self._last.index_fill_(0, slots, self._now + self._staleness)
        return slots, at.masked_select(has_got_it)

    def _there(self, positions: torch.Tensor) -> torch.Tensor:
        return positions.to(self._device)


def _mixed(keys: torch.Tensor) -> torch.Tensor:
    """Return numbers of at least 0 that are as good as random, but the same for the same keys."""
    mixed = keys * -7046029254386353131  # 2**64 divided by the golden ratio, as an int64
    return (mixed ^ (mixed >> 32)).bitwise_and_(torch.iinfo(torch.int64).max)
