"""What the optimizers of servers have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch

from pyps import _core
from pyps.optim import settings


class Optimizer(torch.optim.Optimizer):
    """An optimizer that a server applies to what its workers push.

    Pass one to `pyps.Server`, `pyps.local` or `pyps.init`. It is an optimizer of torch whose parameters are at the
    server: its one param group has no tensors, and the server's settings. What is written to the group changes them on
    all nodes, so schedulers of torch work on it; only one process of a job should have one. A setting that is called
    fixed decides how much is kept beside each value, and cannot change while the server runs.

    Parameters
    ----------
    maximize : bool
        Whether steps go along gradients instead of against them.
    refuse_nan : bool
        Whether a push of a gradient that is NaN or infinite raises a ValueError, and changes nothing.
    **options
        The settings of the kind, by the names that torch has for them.

    Raises
    ------
    ValueError
        A setting is outside of its limits, or does not fit the others.
    """

    name: ClassVar[str]
    param_groups: list[dict[str, Any]]

    def __init__(self, **options: Any) -> None:
        super().__init__([{"params": []}], options)
        self.param_groups[0] = settings.Group(options)
        _ = self.text  # is checked

    @property
    def _group(self) -> settings.Group:
        group = self.param_groups[0]
        assert isinstance(group, settings.Group)
        return group

    @property
    def text(self) -> str:
        """The optimizer as texts have it: ``adagrad:lr=0.1,...``."""
        return _core.read_optimizer(f"{self.name}:{settings.write(self._group.settings())}")

    def bind(self, node: _core.Node) -> None:
        """Let the group be that of a node, which must have this optimizer."""
        if self._group.node not in (None, node):
            raise ValueError("the optimizer is that of another server: make a new one")
        self._group.node = node

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Refuse a second group: all keys of a server have the same settings."""
        if self.param_groups:
            raise ValueError("an optimizer of a server has one param group, for all of its keys")
        super().add_param_group(param_group)

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Do nothing but call the closure, as each push is a step; for programs and schedulers that expect it."""
        return None if closure is None else closure()

    def state_dict(self) -> dict[str, Any]:
        """Return the settings, as torch's optimizers do. What the server keeps for each key is not in it."""
        return {"state": {}, "param_groups": [{**self._group, "params": []}]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings of another optimizer of this kind, on all nodes.

        Raises
        ------
        ValueError
            It has other settings, or one that cannot change while the server runs.
        """
        groups = state_dict["param_groups"]
        if len(groups) != 1 or not set(self._group.names) <= set(groups[0]):
            raise ValueError(f"this is not the state of one group with {', '.join(self._group.names)}")
        self._group.change({name: value for name, value in groups[0].items() if name != "params"})

    def __repr__(self) -> str:
        return f"<pyps.optim.{type(self).__name__} {self.text.partition(':')[2]}>"
