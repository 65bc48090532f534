"""Calls of workers as spans of OpenTelemetry."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import pyps
from pyps.spans import SPANS, SpanWorker
from tests.pyps.conftest import Start

NUM_KEYS, LENGTH = 10, 2


class Spans:
    """A tracer, and the spans that have ended."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("tests")

    def take(self) -> list[ReadableSpan]:
        found = list(self.exporter.get_finished_spans())
        self.exporter.clear()
        return found

    def only(self) -> ReadableSpan:
        (span,) = self.take()
        return span


@pytest.fixture
def spans() -> Iterator[Spans]:
    made = Spans()
    yield made
    made.provider.shutdown()


@pytest.fixture
def pair(cluster: Start) -> list[pyps.Server]:
    return cluster(2, NUM_KEYS, LENGTH)


def found(span: ReadableSpan, *names: str) -> list[object]:
    attributes = span.attributes or {}
    return [attributes.get(name) for name in names]


def test_a_span_says_which_worker_did_what_with_how_many_keys(spans: Spans, pair: list[pyps.Server]) -> None:
    with SpanWorker(pair[1], spans.tracer) as kv:
        kv.push([1, 2, 3], np.ones((3, LENGTH), np.float32))
        span = spans.only()
        assert span.name == "push"
        assert dict(span.attributes or {}) == {
            "db.system.name": "moontide",
            "db.operation.batch.size": 3,
            "pyps.node": 1,
            "pyps.worker": kv.id,
            "pyps.asynchronous": False,
            "pyps.keys_local": 2,
            "pyps.keys_remote": 1,
        }
        assert span.status.is_ok or span.status.status_code is trace.StatusCode.UNSET


def test_every_call_in_the_table_is_one_span_with_its_name(spans: Spans, pair: list[pyps.Server]) -> None:
    for node in pair:
        node.enable_sampling_support("preloc", True, "uniform", 0, NUM_KEYS)
    values = np.ones((1, LENGTH), np.float32)
    with SpanWorker(pair[0], spans.tracer) as kv:
        kv.begin_setup()
        kv.pull([1])
        kv.push([1], values)
        kv.set([1], values)
        kv.staggered_push([1], values)
        kv.pull_if_local([1], values)
        kv.localize([1])
        kv.intent([1], 0)
        kv.contains([1])
        with pytest.raises(ValueError, match="rows always exist"):
            kv.delete([1])
        sample = kv.prepare_sample(2, 0)
        kv.pull_sample(sample, np.empty(2, np.int64), np.empty((2, LENGTH), np.float32))
        kv.finish_sample(sample)
        kv.wait(kv.pull([3], values, asynchronous=True))
        kv.waitall()
        kv.wait_sync()
        kv.quiesce()
        kv.end_setup()
        kv.barrier()
    assert {span.name for span in spans.take()} == set(SPANS)


def test_an_asynchronous_call_and_the_wait_for_it_are_two_spans(
    spans: Spans, pair: list[pyps.Server]
) -> None:
    with SpanWorker(pair[0], spans.tracer) as kv:
        kv.wait(kv.push([1], np.ones((1, LENGTH), np.float32), asynchronous=True))
    push, wait = spans.take()
    assert [push.name, wait.name] == ["push", "wait"]
    assert found(push, "pyps.asynchronous", "pyps.keys_remote") == [True, 1]
    assert found(wait, "db.operation.batch.size", "pyps.keys_remote") == [None, None]


def test_what_a_call_raises_is_in_its_span(spans: Spans, pair: list[pyps.Server]) -> None:
    with (
        SpanWorker(pair[0], spans.tracer) as kv,
        pytest.raises(ValueError, match=r"key 10 .* outside \[0, 10\)"),
    ):
        kv.pull([10])
    span = spans.only()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert [event.name for event in span.events] == ["exception"]
    assert "outside [0, 10)" in str((span.events[0].attributes or {})["exception.message"])


def test_a_call_is_a_child_of_the_span_around_it_also_in_threads(
    spans: Spans, pair: list[pyps.Server]
) -> None:
    def step(number: int) -> None:
        with SpanWorker(pair[0], spans.tracer) as kv, spans.tracer.start_as_current_span(f"step {number}"):
            kv.pull([number])

    threads = [threading.Thread(target=step, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    ended = spans.take()
    steps = {span.context.span_id: span.name for span in ended if span.name.startswith("step")}
    assert sorted(steps.values()) == ["step 0", "step 1", "step 2"]
    assert {steps[span.parent.span_id] for span in ended if span.name == "pull" and span.parent} == set(
        steps.values()
    )


@pytest.mark.parametrize("keys", [2, (1, 2), np.array([[1, 2], [3, 4]]), pytest.param("torch", id="torch")])
def test_keys_of_any_kind_are_counted(spans: Spans, keys: object) -> None:
    if isinstance(keys, str):
        keys = pytest.importorskip("torch").arange(4)
    with pyps.Server(NUM_KEYS, LENGTH) as server, SpanWorker(server, spans.tracer) as kv:
        kv.pull(keys)
    assert found(spans.only(), "db.operation.batch.size") == [np.asarray(keys).size]


def test_spans_that_nobody_records_cost_no_statistics(pair: list[pyps.Server]) -> None:
    tracer = TracerProvider(sampler=ALWAYS_OFF).get_tracer("tests")
    with SpanWorker(pair[0], tracer) as kv:
        kv.stats = pytest.fail  # type: ignore[method-assign]
        assert kv.pull([0]).tolist() == [[0] * LENGTH]


def test_what_is_no_tracer_is_refused() -> None:
    with pyps.Server(NUM_KEYS, LENGTH) as server:
        with pytest.raises(TypeError, match=r"tracer must be one of OpenTelemetry, .* not str"):
            SpanWorker(server, "training")  # type: ignore[arg-type]
        with server.worker() as kv:  # the refused one has left no worker behind
            assert kv.id == 1
