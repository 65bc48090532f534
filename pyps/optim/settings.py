"""The settings of a server's optimizer as the param group of an optimizer of torch."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import ItemsView, ValuesView

    from pyps import _core


def write(settings: Mapping[str, Any]) -> str:
    """Return settings as the server's text: ``lr=0.1,beta1=0.9``.

    Parameters
    ----------
    settings : mapping
        By torch's names: numbers, bools, and `betas`, a pair.
    """
    return ",".join(f"{name}={number!r}" for name, number in _numbers(settings))


def read(text: str, like: Mapping[str, Any]) -> dict[str, Any]:
    """Read what `write` returns, with names and types as `like` has them."""
    numbers = {name: float(number) for name, _, number in (part.partition("=") for part in text.split(","))}
    found: dict[str, Any] = {}
    for name, value in like.items():
        if isinstance(value, tuple):
            found[name] = tuple(numbers[f"{name[:-1]}{i}"] for i in range(1, len(value) + 1))
        else:
            found[name] = type(value)(numbers[name])
    return found


def _numbers(settings: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in settings.items():
        if name == "betas":
            if len(value) != 2:
                raise ValueError(f"betas has {len(value)} numbers; it must have 2")
            yield from ((f"beta{i}", _number(name, beta)) for i, beta in enumerate(value, 1))
        else:
            yield name, _number(name, value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}") from None


class Group(dict[str, Any]):
    """A param group of an optimizer. Its settings are those of the server or table, once there is one.

    Other entries, like ``table`` and the schedulers' ``initial_lr``, belong to this object alone.
    """

    def __init__(self, settings: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> None:
        super().__init__({"params": [], **settings, **(others or {})})
        self.names = tuple(settings)
        self._node: weakref.ref[_core.Node] | None = None
        self._first = ""

    @property
    def node(self) -> _core.Node | None:
        """The open node whose settings these are."""
        node = None if self._node is None else self._node()
        return node if node is not None and node.is_open else None

    def bind(self, node: _core.Node, text_of: Callable[[Group], str]) -> str:
        """Be the group of a node; return the text with which it was or is made, whatever has changed since."""
        if self.node is None:
            self._first = text_of(self)
        self._node = weakref.ref(node)
        return self._first

    def settings(self) -> dict[str, Any]:
        """Return the settings as they are now."""
        known = {name: dict.__getitem__(self, name) for name in self.names}
        if (node := self.node) is not None:
            known = read(node.optimizer_text().partition(":")[2], known)
            dict.update(self, known)
        return known

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change entries, all of them or, if one is wrong, none."""
        wanted = {name: value for name, value in changes.items() if name in self.names}
        if wanted and (node := self.node) is not None:
            node.tune(write(wanted))
        dict.update(self, changes)
        self.settings()

    def __getitem__(self, name: str) -> Any:
        self.settings()
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.change({name: value})

    def update(self, *changes: Any, **more: Any) -> None:
        """Change entries, all of them or, if one is wrong, none."""
        self.change(dict(*changes, **more))

    def get(self, name: str, default: Any = None) -> Any:
        """Return an entry as it is now."""
        self.settings()
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:  # also makes dict(group) ask for each entry
        return super().__iter__()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return the entries as they are now."""
        self.settings()
        return dict(super().items()).items()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return the entries' values as they are now."""
        return dict(self.items()).values()

    def __reduce__(self) -> tuple[Any, ...]:
        others = {name: value for name, value in self.items() if name not in self.names}
        return type(self), (self.settings(), others)
