"""Pulls that overlap the forward: a module waits for its own parameters, when it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import nn
from torch.utils.hooks import RemovableHandle

from pyps.nn.dense.flat import FlatParameters
from pyps.node import Worker
from pyps.timestamps import Timestamp

PART_BYTES = 1 << 18  # from which on the next module's parameters are pulled by themselves


def parts_of(owners: list[nn.Module], nbytes: list[int]) -> Iterator[tuple[int, int]]:
    """Cut the parameters, whose owners and sizes these are, between two owners, after enough bytes."""
    first, size = 0, 0
    for number, owner in enumerate(owners):
        if size >= PART_BYTES and owner is not owners[number - 1]:
            yield first, number
            first, size = number, 0
        size += nbytes[number]
    yield first, len(owners)


def is_compiled(module: nn.Module) -> bool:
    """Whether a module was given to torch.compile, which may have read its hooks already."""
    return (
        getattr(module, "_compiled_call_impl", None) is not None or type(module).__name__ == "OptimizedModule"
    )


class Pulls:
    """Pulls of a model's values into its parameters.

    On one node a pull is a copy, and there is nothing to overlap. Nor may it where other modules must not see values of
    before the pull: a module may use another one's parameter without calling it.
    """

    def __init__(
        self, table: Worker, flat: FlatParameters, model: nn.Module, timeout: float, *, overlap: bool
    ) -> None:
        self._table, self._flat, self._timeout = table, flat, timeout
        self._on_their_way: dict[int, Timestamp] = {}
        self._hooks: list[RemovableHandle] = []
        self._parts = [(flat.all_keys, flat.vector)]
        if overlap and table.node.num_nodes > 1 and not any(map(is_compiled, model.modules())):
            self._split(model)

    def _split(self, model: nn.Module) -> None:
        flat = self._flat
        modules = list(model.modules())
        # The first of the modules that share a parameter, as in the order of parameters.
        owner_of = {
            tensor: module for module in reversed(modules) for tensor in module.parameters(recurse=False)
        }
        owners = [owner_of[tensor] for tensor in flat.tensors]
        cuts = list(parts_of(owners, [tensor.nbytes for tensor in flat.tensors]))
        self._parts = [flat.part(first, end) for first, end in cuts]
        part_of = {
            tensor: number for number, (first, end) in enumerate(cuts) for tensor in flat.tensors[first:end]
        }
        for module in modules:
            if next(module.parameters(recurse=False), None) is not None:
                parts = sorted({part_of[tensor] for tensor in module.parameters()})
                self._hooks.append(module.register_forward_pre_hook(waiting(self.wait, parts)))

    def start(self) -> None:
        """Begin to pull; return when the first module may be called."""
        self.wait()
        for number, (keys, values) in enumerate(self._parts):
            done = self._table.pull(keys, values, True, timeout=self._timeout)
            if done >= 0:
                self._on_their_way[number] = done
        self._flat.note_written()
        if not self._hooks:
            self.wait()

    def wait(self, parts: list[int] | None = None) -> None:
        """Wait until these parts are there, or all."""
        if self._on_their_way:
            for number in parts if parts is not None else list(self._on_their_way):
                if (done := self._on_their_way.pop(number, None)) is not None:
                    self._table.wait(done, timeout=self._timeout)

    def close(self) -> None:
        """Let the modules be as they were."""
        for hook in self._hooks:
            hook.remove()


def waiting(wait: Callable[[list[int]], None], parts: list[int]) -> Callable[..., None]:
    """Return a hook that waits for parts; a copy of a module shares it."""
    return lambda *_: wait(parts)
