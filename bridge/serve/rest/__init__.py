"""The Open Inference Protocol over HTTP, functions by JSON, metrics, and a page for people.

`oip` is the protocol's text: requests and responses from and to bytes. `inference`, `calls` and `repository` are the
routes by subject, `guard` what all of them stand behind, `openapi` their description, `application` all together.
"""

from __future__ import annotations

from bridge.serve.rest.application import application

__all__ = ["application"]
