"""The Open Inference Protocol over HTTP, functions by JSON, metrics, and a page for people.

`oip` converts requests and responses from and to bytes. `inference`, `calls` and `repository` have the routes by
subject, `guard` the checks before all of them, `openapi` their description, and `application` the whole application.
"""

from __future__ import annotations

from bridge.serve.rest.application import application

__all__ = ["application"]
