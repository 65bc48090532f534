"""Workers whose calls are spans of OpenTelemetry."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from pyps.node import Node, Worker

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

# Each of these calls is a span with its name.
SPANS = (
    *("pull", "push", "set", "staggered_push", "pull_if_local", "localize", "intent", "contains", "delete"),
    *("prepare_sample", "pull_sample", "finish_sample"),
    *("wait", "waitall", "wait_sync", "quiesce", "barrier", "end_setup"),
)
COUNTED = ("keys_local", "keys_remote")  # of Worker.stats()


class SpanWorker(Worker):
    """A worker whose calls are spans of OpenTelemetry.

    A span has the name of the call and these attributes: ``db.system.name`` ("moontide"), ``pyps.node`` and
    ``pyps.worker`` (numbers); for calls with keys ``db.operation.batch.size`` (how many keys), ``pyps.asynchronous``
    (the span ends when all is sent; the wait for it is another span), and ``pyps.keys_local`` and
    ``pyps.keys_remote`` if values were read or changed. What a call raises is recorded in its span, whose status then
    is an error. Spans of a call inside of the program's own spans are children of these.

    Parameters
    ----------
    node : Node
        A server of this process, or a node that it attached to.
    tracer : opentelemetry.trace.Tracer
        What makes the spans.

    Raises
    ------
    TypeError
        This is no tracer.
    """

    def __init__(self, node: Node, tracer: Tracer) -> None:
        if not callable(getattr(tracer, "start_as_current_span", None)):
            raise TypeError(
                "tracer must be one of OpenTelemetry, as opentelemetry.trace.get_tracer(name) returns it, not "
                f"{type(tracer).__name__}"
            )
        super().__init__(node)
        self.tracer = tracer


def _spanning(name: str) -> Any:
    """Return a method that makes this call of a worker, inside of a span."""
    method = getattr(Worker, name)
    parameters = tuple(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def call(self: SpanWorker, *args: Any, **kwargs: Any) -> Any:
        with self.tracer.start_as_current_span(name) as span:
            if not span.is_recording():
                return method(self, *args, **kwargs)
            given = dict(zip(parameters, args, strict=False)) | kwargs
            before = self.stats()
            span.set_attributes(
                {"db.system.name": "moontide", "pyps.node": self.node.rank, "pyps.worker": self.id}
            )
            if "keys" in given:
                span.set_attribute("db.operation.batch.size", np.asarray(given["keys"]).size)
                span.set_attribute("pyps.asynchronous", bool(given.get("asynchronous", False)))
            result = method(self, *args, **kwargs)
            after = self.stats()
            counts = {f"pyps.{what}": after[what] - before[what] for what in COUNTED}
            if any(counts.values()):
                span.set_attributes(counts)
            return result

    return call


for _name in SPANS:
    setattr(SpanWorker, _name, _spanning(_name))
