"""What the values of keys begin with.

>>> import pyps
>>> with pyps.Server(1000, 64, initializer=pyps.initializers.Normal(std=0.01, seed=7)) as server:
...     print(server.initializer_text())
normal:mean=0,std=0.01,seed=7

What is drawn depends on the seed and the key alone. So a value begins with the same numbers whichever node makes it, on
any number of nodes, and again after a restart. Each has a ``text``, like ``normal:mean=0.0,std=0.01,seed=7``, which
does as well.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import ClassVar

from pyps import _core

__all__ = ["Constant", "Initializer", "Normal", "Uniform"]


@dataclass(frozen=True)
class Initializer:
    """What values begin with, as a server's option."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field, number in zip(fields(self), astuple(self), strict=True):
            try:
                float(number)
            except (TypeError, ValueError):
                raise TypeError(f"{field.name} must be a number, not {type(number).__name__}") from None
        _ = self.text  # is checked

    @property
    def text(self) -> str:
        """The initializer as a text with all of its settings; empty where values begin as zeros."""
        pairs = zip(fields(self), astuple(self), strict=True)
        settings = ",".join(f"{field.name}={float(number)!r}" for field, number in pairs)
        return _core.read_initializer(f"{self.name}:{settings}")


@dataclass(frozen=True)
class Constant(Initializer):
    """The same number in all elements; integers need a whole one."""

    name: ClassVar[str] = "constant"
    value: float = 0.0


@dataclass(frozen=True)
class Uniform(Initializer):
    """Numbers of [low, high), each equally likely; for floating-point values.

    Parameters
    ----------
    low, high : float
    seed : int
        In [0, 2**53].
    """

    name: ClassVar[str] = "uniform"
    low: float = 0.0
    high: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Normal(Initializer):
    """Numbers of a normal distribution; for floating-point values.

    Parameters
    ----------
    mean, std : float
        `std` must not be negative.
    seed : int
        In [0, 2**53].
    """

    name: ClassVar[str] = "normal"
    mean: float = 0.0
    std: float = 1.0
    seed: int = 0
