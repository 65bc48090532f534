"""Torch7's nn and optim from Python, with the interface of PyTorch's torch.legacy, on a Lua state of the process.

    from bridge.legacy import nn, optim

    net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.LogSoftMax())
    criterion = nn.ClassNLLCriterion()
    loss = criterion.forward(net.forward(x), targets)
    net.backward(x, criterion.backward(net.output, targets))

Everything counts from 0, as `bridge.legacy.nn` says.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from bridge.legacy.classes import class_of
from bridge.legacy.objects import LegacyObject
from bridge.legacy.session import Session, current, state, use
from bridge.t7.objects import Plain

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from bridge.legacy import nn, optim

# The values that a file can contain.
Value: TypeAlias = "Plain | NDArray[Any] | Tensor | LegacyObject"

# Set here, because `session` must not import `objects`, which imports `session`.
Session.class_of = staticmethod(class_of)

__all__ = ["load", "nn", "optim", "save", "state", "use"]


def load(file: str | os.PathLike[str], format: str = "binary") -> Value:  # noqa: A002, torch.load's word
    """Load a .t7 file: modules and criterions as those of `nn`, tables as lists and dicts.

    Parameters
    ----------
    file : path
        The file.
    format : {"binary", "ascii"}
        The format, as for Lua's `torch.load`.

    Raises
    ------
    LuaError
        The file is missing, is not a Torch7 file, or has objects of classes that the state does not know.
    """
    session = current()
    for package in ("nngraph", "optim"):
        session.require(package)
    loaded: Value = session.from_lua(
        session.run(session.require("torch").load, os.fspath(file), format, base=1)
    )
    return loaded


def save(value: Any, file: str | os.PathLike[str], format: str = "binary") -> None:  # noqa: A002
    """Write a value with its modules to a .t7 file, which Torch7 reads; positions in it count from 1, as in Lua."""
    session = value._session if isinstance(value, LegacyObject) else current()
    session.run(session.require("torch").save, os.fspath(file), session.to_lua(value), format, base=1)


if not TYPE_CHECKING:  # with it, a type checker would accept any name

    def __getattr__(name):
        if name in ("nn", "optim"):
            return importlib.import_module(f"bridge.legacy.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
