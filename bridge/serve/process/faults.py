"""Sending exceptions between processes, as their kind and text."""

from __future__ import annotations

from typing import Any

from bridge.errors import LuaError, LuaTypeError
from bridge.t7 import T7Error

# The exceptions that are raised again as the same class, a class before its bases; others become RuntimeError.
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
