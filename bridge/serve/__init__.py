"""Models in processes of their own, and a web service for them.

`process` runs one model in one process: if it crashes there, one call fails, but not the calling program. `engine` has
models with a queue each, in several processes. `rest` and `grpc` are the protocols by which requests come. `run` is a
complete server. The extra "serve" installs the packages that the service needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge.serve.process import CallTimeout, ModelProcess, ProcessLost

if TYPE_CHECKING:
    from bridge.serve.engine import ModelSettings, Refused, Service
    from bridge.serve.rest import application

__all__ = [
    "CallTimeout",
    "ModelProcess",
    "ModelSettings",
    "ProcessLost",
    "Refused",
    "Service",
    "application",
]


def __getattr__(name: str) -> Any:
    if name == "application":
        from bridge.serve.rest import application

        return application
    if name in ("ModelSettings", "Refused", "Service"):
        from bridge.serve import engine

        return getattr(engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
