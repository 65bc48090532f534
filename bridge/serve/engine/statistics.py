"""Counters of served requests, as plain numbers, and their forms for Triton's statistics and for Prometheus."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from bridge.serve.engine.refused import Reason

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LABELS = ("model", "version")
COUNTED = re.compile(rb"^((?:# (?:HELP|TYPE) )?moontide_inference_\w+)_total\b", re.MULTILINE)


class Histogram:
    """Counts of observations at or below each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count an observation."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, float]]:
        """Return cumulative counts, as Prometheus needs them."""
        total, found = 0, []
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            total += count
            found.append((str(bound), float(total)))
        return found


class Statistics:
    """Counters of one version of a model. All times are seconds.

    Attributes
    ----------
    succeeded, rows, batches : int
        Answered requests, their rows, and calls of processes.
    failed : Counter
        Requests that were not answered, by reason.
    waited, computed, total : float
        Time that answered requests spent in the queue, in a process, and from arrival to answer.
    restarts : int
        Processes that had to be replaced.
    """

    def __init__(self) -> None:
        self.succeeded = self.rows = self.batches = self.restarts = 0
        self.failed: Counter[Reason] = Counter()
        self.waited = self.computed = self.total = 0.0
        self.durations = Histogram(SECONDS)
        self.joined = Histogram(REQUESTS)

    def answered(self, rows: int, arrived: float, began: float, ended: float) -> None:
        """Count an answered request."""
        self.succeeded += 1
        self.rows += rows
        self.waited += began - arrived
        self.computed += ended - began
        self.total += ended - arrived
        self.durations.observe(ended - arrived)

    def called(self, requests: int) -> None:
        """Count a call of a process, which computed this number of requests."""
        self.batches += 1
        self.joined.observe(requests)

    def triton(self) -> dict[str, Any]:
        """Return the numbers by the names of Triton's statistics, with times in nanoseconds."""

        def spent(count: int, seconds: float) -> dict[str, int]:
            return {"count": count, "ns": round(seconds * 1e9)}

        return {
            "inference_count": self.rows,
            "execution_count": self.batches,
            "inference_stats": {
                "success": spent(self.succeeded, self.total),
                "fail": spent(self.failed.total(), 0.0),
                "queue": spent(self.succeeded, self.waited),
                "compute_infer": spent(self.succeeded, self.computed),
            },
        }


# Name, help text, and the function that gets the number from the statistics.
COUNTERS: tuple[tuple[str, str, Callable[[Statistics], float]], ...] = (
    ("request_success", "Requests that were answered", lambda s: s.succeeded),
    ("count", "Rows that were computed", lambda s: s.rows),
    ("exec_count", "Calls of processes: batches of requests", lambda s: s.batches),
    ("request_duration_us", "Microseconds from arrival to answer", lambda s: s.total * 1e6),
    ("queue_duration_us", "Microseconds of waiting in the queue", lambda s: s.waited * 1e6),
    ("compute_infer_duration_us", "Microseconds in a process", lambda s: s.computed * 1e6),
)


class Collected(Collector):
    """Makes Prometheus' metrics of all models' statistics.

    Parameters
    ----------
    served : callable
        Returns name, version, statistics, waiting requests and running processes of each version.
    """

    def __init__(self, served: Callable[[], Iterable[tuple[str, str, Statistics, int, int]]]) -> None:
        self._served = served

    def collect(self) -> Iterator[Metric]:
        """Yield the present metrics."""
        there = [
            ((name, version), s, waiting, living) for name, version, s, waiting, living in self._served()
        ]
        for name, text, value in COUNTERS:
            counter = CounterMetricFamily(f"moontide_inference_{name}", text, labels=LABELS)
            for labels, statistics, _, _ in there:
                counter.add_metric(labels, value(statistics))
            yield counter
        failures = CounterMetricFamily(
            "moontide_inference_request_failure",
            "Requests that were not answered",
            labels=(*LABELS, "reason"),
        )
        restarts = CounterMetricFamily(
            "moontide_worker_restarts", "Processes that were replaced", labels=LABELS
        )
        waiting = GaugeMetricFamily(
            "moontide_inference_pending_request_count", "Requests in the queue", labels=LABELS
        )
        living = GaugeMetricFamily("moontide_workers", "Processes that have the model", labels=LABELS)
        durations = HistogramMetricFamily(
            "moontide_inference_request_duration_seconds", "Seconds from arrival to answer", labels=LABELS
        )
        joined = HistogramMetricFamily(
            "moontide_inference_batch_requests", "Requests that went to a process together", labels=LABELS
        )
        for labels, statistics, in_queue, alive in there:
            for reason in Reason:
                failures.add_metric((*labels, reason.name), statistics.failed[reason])
            restarts.add_metric(labels, statistics.restarts)
            waiting.add_metric(labels, in_queue)
            living.add_metric(labels, alive)
            durations.add_metric(labels, statistics.durations.buckets(), statistics.durations.sum)
            joined.add_metric(labels, statistics.joined.buckets(), statistics.joined.sum)
        yield from (failures, restarts, waiting, living, durations, joined)


def exposition(registry: CollectorRegistry) -> bytes:
    """Return a registry in Prometheus' text format; Triton's counters are written as in Triton, without "_total"."""
    return COUNTED.sub(rb"\1", generate_latest(registry))
