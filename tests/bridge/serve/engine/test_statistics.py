"""What is counted reads as Prometheus' text."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from bridge.serve.engine.refused import Reason
from bridge.serve.engine.statistics import Collected, Statistics, exposition


def counted() -> Statistics:
    statistics = Statistics()
    for seconds in (0.0001, 0.001, 0.0011, 99.0):
        statistics.answered(2, 10.0, 10.0 + seconds / 4, 10.0 + seconds)
    statistics.called(4)
    statistics.failed[Reason.LATE] += 3
    return statistics


def test_prometheus_reads_what_was_counted() -> None:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected(lambda: [('a "name"\\', "1", counted(), 7, 2)]))
    text = exposition(registry).decode()
    assert "# TYPE moontide_inference_count counter\nmoontide_inference_count{" in text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert sample.labels["model"] == 'a "name"\\'
            extra = sample.labels.get("reason") or sample.labels.get("le") or ""
            found[sample.name, extra] = sample.value
    assert found["moontide_inference_request_success_total", ""] == 4
    assert found["moontide_inference_count_total", ""] == 8
    assert found["moontide_inference_request_failure_total", "LATE"] == 3
    assert found["moontide_inference_pending_request_count", ""] == 7
    durations = "moontide_inference_request_duration_seconds"
    assert found[f"{durations}_bucket", "0.0005"] == 1
    assert found[f"{durations}_bucket", "0.001"] == 2  # a bound counts what lies at it
    assert found[f"{durations}_bucket", "0.002"] == found[f"{durations}_bucket", "30.0"] == 3
    assert found[f"{durations}_bucket", "+Inf"] == found[f"{durations}_count", ""] == 4
    assert abs(found[f"{durations}_sum", ""] - 99.0022) < 1e-6


def test_triton_s_names_have_nanoseconds() -> None:
    told = counted().triton()
    assert (told["inference_count"], told["execution_count"]) == (8, 1)
    assert told["inference_stats"]["fail"]["count"] == 3
    parts = told["inference_stats"]
    assert abs(parts["queue"]["ns"] + parts["compute_infer"]["ns"] - parts["success"]["ns"]) <= 2
