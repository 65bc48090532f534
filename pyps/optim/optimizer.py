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
    server: its param group has no tensors, and the server's settings. What is written to the group changes them on
    all nodes, so schedulers of torch work on it; only one process of a job should have one. A setting that is called
    fixed decides how much is kept beside each value, and cannot change while the server runs.

    Named tables of the server may have the same optimizer; each is a param group of its own, whose entry ``table`` is
    its name, ``""`` for the server's own keys. The group of a table begins with the settings that the optimizer was
    made with, or with those that `add_param_group` gave it before.

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
    def _groups(self) -> list[settings.Group]:
        assert all(isinstance(group, settings.Group) for group in self.param_groups)
        return self.param_groups  # type: ignore[return-value]

    @property
    def text(self) -> str:
        """The optimizer as texts have it, with the settings of its first group: ``adagrad:lr=0.1,...``."""
        return self._text(self._groups[0])

    def _text(self, group: settings.Group) -> str:
        return _core.read_optimizer(f"{self.name}:{settings.write(group.settings())}")

    def bind(self, node: _core.Node) -> str:
        """Let a group be that of a node, which must have this optimizer; return the text with its first settings."""
        table, server = getattr(node, "name", ""), getattr(node, "node", node)
        others = (group.node for group in self._groups)
        if any(other is not None and getattr(other, "node", other) is not server for other in others):
            raise ValueError("the optimizer is that of another server: make a new one")
        first = self._groups[0]
        if "table" not in first and all(group.get("table") != table for group in self._groups):
            first["table"] = table
        found = next((group for group in self._groups if group.get("table") == table), None)
        if found is None:
            self.add_param_group({"table": table})
            found = self._groups[-1]
        return found.bind(node, self._text)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Give a named table settings of its own, before it is made with this optimizer.

        Parameters
        ----------
        param_group : dict
            Its ``table``, and the settings that are not as those with which the optimizer was made.

        Raises
        ------
        ValueError
            It has tensors, names no table, or one that has a group; or a setting is outside of its limits.
        """
        if not self.param_groups:
            return super().add_param_group(param_group)
        if param_group.get("params"):
            raise ValueError("a param group of a server's optimizer has a table, and no tensors")
        if not isinstance(table := param_group.get("table"), str):
            raise ValueError(
                "a param group of a server's optimizer names its table: {'table': 'users', 'lr': 0.1}"
            )
        if any(group.get("table") == table for group in self._groups):
            raise ValueError(f"table {table!r} has a param group: change its settings there")
        known = {name: param_group.get(name, value) for name, value in self.defaults.items()}
        others = {name: value for name, value in param_group.items() if name not in {*known, "params"}}
        group = settings.Group(known, others)
        self._text(group)  # is checked
        self.param_groups.append(group)
        return None

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Do nothing but call the closure, as each push is a step; for programs and schedulers that expect it."""
        return None if closure is None else closure()

    def state_dict(self) -> dict[str, Any]:
        """Return the settings, as torch's optimizers do. What the server keeps for each key is not in it."""
        return {"state": {}, "param_groups": [{**group, "params": []} for group in self._groups]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings of another optimizer of this kind, on all nodes.

        Raises
        ------
        ValueError
            It has other settings or tables, or a setting that cannot change while the server runs.
        """
        given = state_dict["param_groups"]
        names = self._groups[0].names
        if len(given) != len(self._groups) or any(not set(names) <= set(group) for group in given):
            count = "one group" if len(self._groups) == 1 else f"{len(self._groups)} groups"
            raise ValueError(f"this is not the state of {count} with {', '.join(names)}")
        for group, changes in zip(self._groups, given, strict=True):
            if "table" in group and changes.get("table", group["table"]) != group["table"]:
                raise ValueError(
                    f"this is the state of table {changes['table']!r}, not of {group['table']!r}"
                )
        for group, changes in zip(self._groups, given, strict=True):
            group.change({name: value for name, value in changes.items() if name != "params"})

    def __repr__(self) -> str:
        texts = "; ".join(self._text(group).partition(":")[2] for group in self._groups)
        return f"<pyps.optim.{type(self).__name__} {texts}>"
