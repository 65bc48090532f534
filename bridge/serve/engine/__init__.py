"""Models behind a queue each, whatever the wire that requests come by.

Decisions are plain functions over data: `queue` (which requests go together, and when), `joining` (their rows as one
array and back), `tensors` (inputs and outputs by name), `sources` (which files are which model and version), `config`
(how a model is served, in Triton's words). `kept` is a file that can be loaded again, `served` one version of
a model with its processes, `repository` all models, `statistics` what they have done, `service` what the wires call.
What is refused is a `Refused`, with a reason that every wire has a number for.
"""

from __future__ import annotations

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.service import Service
from bridge.serve.engine.settings import ModelSettings

__all__ = ["ModelSettings", "Reason", "Refused", "Service"]
