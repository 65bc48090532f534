"""The Open Inference Protocol over gRPC, as Triton's and KServe's clients speak it, and gRPC's health check.

`messages` is what travels, `contents` tensors in it, `servicer` what each method does, `handlers` what all methods
stand behind: bytes that are no messages, refusals as status codes. `access` logs each call,
`guard` asks for the token, `server` listens.
"""

from __future__ import annotations

from bridge.serve.grpc.server import start

__all__ = ["start"]
