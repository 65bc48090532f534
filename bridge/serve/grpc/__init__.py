"""The Open Inference Protocol over gRPC, as Triton's and KServe's clients speak it, and gRPC's health check.

`messages` has the messages, `contents` the tensors in them, `servicer` the methods. `handlers` decodes messages for all
methods and turns refusals into status codes. `access` logs calls, `guard` checks the token, `server` listens.
"""

from __future__ import annotations

from bridge.serve.grpc.server import start

__all__ = ["start"]
