"""What the modules have in common: whether they train, what they wait for, and that they belong to one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, Self

import torch

from pyps.nn.embeddings import state
from pyps.nn.embeddings.ahead import Ahead
from pyps.nn.embeddings.ids import Batch, Ids, kept_keys
from pyps.nn.embeddings.rows import Rows
from pyps.timestamps import Timestamp


class ServerModule(torch.nn.Module):
    """A module whose rows are at a server. It has no parameters, so no optimizer of torch steps on them.

    In training mode the backward pushes the gradients of the rows that a forward has used. In eval mode, and under
    `torch.no_grad`, nothing is pushed.

    Attributes
    ----------
    kv : Worker
        Of the table that has the rows.
    table : Node
        That table.
    device : torch.device or None
        Where rows are looked up to, if it was given.
    """

    def __init__(self, rows: Rows, persistent: bool) -> None:
        super().__init__()
        self._rows, self._persistent = rows, persistent
        self.kv, self.table = rows.kv, rows.table
        self.device = rows.front.device

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether gradients are pushed in training mode; a module that contains this one does not pass it on."""
        self._rows.source.requires_grad_(requires_grad)
        return super().requires_grad_(requires_grad)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the pushes of an asynchronous module have ended.

        Parameters
        ----------
        timeout : float, optional
            Seconds for each push; default 300.

        Raises
        ------
        NodeLost, ValueError
            What went wrong with a push, once.
        WaitTimeoutError
            One took longer.
        """
        self._rows.wait(timeout)

    def forget_cached(self) -> None:
        """Let rows that stay on the device be pulled when they are used next, for example after a barrier."""
        self._rows.front.forget()

    def localize(
        self, ids: Any, *, asynchronous: bool = False, timeout: float | None = None
    ) -> Timestamp | None:
        """Bring the rows of a batch to this node; arguments and errors are those of `Worker.localize`.

        Parameters
        ----------
        ids
            As `forward` takes them.
        """
        return self.kv.localize(kept_keys(self.batches(ids)), asynchronous, timeout=timeout)

    def intent(self, ids: Any, start: int, end: int = 0, *, timeout: float | None = None) -> None:
        """Say that a batch will be used in clocks [start, end); arguments and errors are those of `Worker.intent`.

        Parameters
        ----------
        ids
            As `forward` takes them.
        """
        self.kv.intent(kept_keys(self.batches(ids)), start, end, timeout=timeout)

    @contextmanager
    def looking_ahead(self, timeout: float | None) -> Iterator[Ahead]:
        """Let lookups find rows that were pulled ahead, for `pyps.data.prefetch`.

        Raises
        ------
        ValueError
            Another iteration looks ahead for this module.
        """
        if self._rows.ahead is not None:
            raise ValueError(f"{self} is looked ahead for already: end that iteration first")
        self._rows.ahead = Ahead(self.kv, self._rows.dtype, timeout, self._rows.front.is_pinned)
        try:
            yield self._rows.ahead
        finally:
            self._rows.ahead = None

    def batches(self, ids: Any) -> Sequence[Batch]:
        """Return what a forward with these ids looks up; parameters and errors are those of `forward`."""
        raise NotImplementedError

    def _embeddings(self) -> dict[str, Ids]:
        """Return whose rows these are, by what stands before the names of their entries in a state dict."""
        raise NotImplementedError

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._persistent:
            for name, ids in self._embeddings().items():
                destination.update(state.export(self._rows, ids, prefix + name))

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        embeddings = self._embeddings() if self._persistent else {}
        missing: list[str] = []
        errors: list[str] = []
        found = [
            state.read(ids, state_dict, prefix + name, missing, errors) for name, ids in embeddings.items()
        ]
        error_msgs += errors
        if strict:
            known = {prefix + name + entry for name, ids in embeddings.items() for entry in state.names(ids)}
            missing_keys += missing
            unexpected_keys += [key for key in state_dict if key.startswith(prefix) and key not in known]
        if not errors:
            self.forget_cached()
            for entry in filter(None, found):
                entry.set(self._rows)

    def __deepcopy__(self, _: object) -> NoReturn:
        self._refuse("copied")

    def __reduce_ex__(self, _: object) -> NoReturn:
        self._refuse("copied or pickled")

    def _refuse(self, what: str) -> NoReturn:
        kind = f"pyps.nn.{type(self).__name__}"
        raise TypeError(
            f"a {kind} cannot be {what}, as its worker is this process's and its rows are at the server: "
            f"make another with a worker, {kind}(..., kv); state_dict() has the rows"
        )
