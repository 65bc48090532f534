"""Models with a queue of requests each, independent of the protocol by which requests come.

Decisions are plain functions over data: `queue` (which requests are computed together, and when), `joining` (their rows
as one array, and back), `tensors` (inputs and outputs by name), `sources` (which files are which model and version),
`config` (a model's configuration in Triton's form). `kept` is a file that can be loaded again, `served` one version of
a model with its processes, `repository` all models, `statistics` their counters, `service` the functions that the
protocols call. A request that is not answered raises `Refused`, with a reason that every protocol has a status for.
"""

from __future__ import annotations

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.service import Service
from bridge.serve.engine.settings import ModelSettings

__all__ = ["ModelSettings", "Reason", "Refused", "Service"]
