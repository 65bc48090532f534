"""A parameter server with the primitives of Lapse and AdaPM: pull, push, set on shared parameters.

>>> import numpy as np, pyps
>>> with pyps.local(num_keys=1000, value_length=10) as kv:
...     kv.push([3, 7], np.ones((2, 10), np.float32))

Importing it starts no thread and opens no socket.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyps import initializers
from pyps.errors import (
    AttachError,
    CheckpointError,
    ClosedError,
    Error,
    NodeLost,
    StartError,
    WaitTimeoutError,
)
from pyps.length_classes import classed_keys
from pyps.local_worker import LocalWorker, local
from pyps.node import Node, Table, TextWorker, Worker, attach
from pyps.periods import Periods
from pyps.rendezvous.dmlc import scheduler
from pyps.rendezvous.launch import init
from pyps.server import Server
from pyps.sharing import share
from pyps.spans import SpanWorker
from pyps.text_keys import Collisions, hashed_keys
from pyps.timestamps import Timestamp
from pyps.tracing import TraceEvent

__all__ = [
    "AttachError",
    "CheckpointError",
    "ClosedError",
    "Collisions",
    "Error",
    "LocalWorker",
    "Node",
    "NodeLost",
    "Periods",
    "Server",
    "SpanWorker",
    "StartError",
    "Table",
    "TextWorker",
    "Timestamp",
    "TraceEvent",
    "WaitTimeoutError",
    "Worker",
    "attach",
    "checkpoint",
    "classed_keys",
    "data",
    "hashed_keys",
    "init",
    "initializers",
    "local",
    "nn",
    "optim",
    "ray",
    "scheduler",
    "share",
    "spark",
]


if TYPE_CHECKING:
    from pyps import checkpoint, data, nn, optim, ray, spark


def __getattr__(name: str) -> Any:
    """Import what needs torch, Ray, pyspark or more of the package when it is used first."""
    if name in ("checkpoint", "data", "nn", "optim", "ray", "spark"):
        return importlib.import_module(f"pyps.{name}")
    raise AttributeError(f"module 'pyps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
