"""Exceptions on their way between processes: what kind of them, and what they say."""

from __future__ import annotations

from typing import Any

from bridge.errors import LuaError, LuaTypeError
from bridge.t7 import T7Error

# What is raised again as what it was, a kind before those that it is one of; all else becomes a RuntimeError.
KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (LuaTypeError, LuaError, MemoryError, FileNotFoundError, T7Error, TypeError, ValueError)
}


def described(error: Exception) -> dict[str, str]:
    """Return an exception as a message."""
    kind = next((name for name, one in KINDS.items() if isinstance(error, one)), "RuntimeError")
    text = str(error) if kind != "RuntimeError" else f"{type(error).__name__}: {error}"
    return {"kind": kind, "message": text, "traceback": getattr(error, "traceback", "")}


def raised(told: dict[str, Any]) -> Exception:
    """Return the exception that a message describes."""
    kind = KINDS.get(str(told.get("kind")), RuntimeError)
    message = str(told.get("message"))
    if issubclass(kind, LuaError):
        return kind(message, str(told.get("traceback", "")))
    return kind(message)
