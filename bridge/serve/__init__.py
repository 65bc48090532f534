"""Models in processes of their own: what a model does there costs one call, never the program that made it.

`area` is the memory that both processes see, `values` what travels (arrays in that memory, all else as JSON, so that
neither side trusts the other's bytes), `channel` the messages, `faults` what went wrong, `worker` the model's process,
`process` its handle.
"""

from __future__ import annotations

from bridge.serve.process import CallTimeout, ModelProcess, ProcessLost

__all__ = ["CallTimeout", "ModelProcess", "ProcessLost"]
