"""Optimizers, initializers and compression as a server's options: objects, or texts like ``adagrad:lr=0.1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyps import _core


def optimizer_text(optimizer: Any) -> str:
    """Return an optimizer with all of its settings as text; empty if there is none.

    Raises
    ------
    TypeError, ValueError
        It is no optimizer of a server.
    """
    return _text(optimizer, "optimizer", "pyps.optim", _core.read_optimizer)


def initializer_text(initializer: Any) -> str:
    """Return an initializer with all of its settings as text; empty where values begin as zeros.

    Raises
    ------
    TypeError, ValueError
        It is no initializer.
    """
    return _text(initializer, "initializer", "pyps.initializers", _core.read_initializer)


def compression_text(compression: str | None) -> str:
    """Return how deltas are compressed, with all settings, as text; empty if they go whole.

    Raises
    ------
    TypeError, ValueError
        There is no such compression.
    """
    if compression is not None and not isinstance(compression, str):
        raise TypeError(
            f"compression must be a text like 'bfloat16' or None, not {type(compression).__name__}"
        )
    return _core.read_compression(compression) if compression else ""


def _text(given: Any, what: str, module: str, read: Callable[[str], str]) -> str:
    if given is None or given == "":
        return ""
    text = getattr(given, "text", given)
    if not isinstance(text, str):
        raise TypeError(f"{what} must be one of {module} or its text, not {type(given).__name__}")
    return read(text)
