"""Models in processes of their own, and a web service over them.

`process` is one model in one process: what it does there costs one call, never the program that made it.
"""

from __future__ import annotations

from bridge.serve.process import CallTimeout, ModelProcess, ProcessLost

__all__ = ["CallTimeout", "ModelProcess", "ProcessLost"]
