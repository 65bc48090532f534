"""The benchmark harness: what a target means, what is printed and written, and that every benchmark runs."""

from __future__ import annotations

import importlib
import io
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from rich.console import Console

from benchmarks import harness, saved
from benchmarks.__main__ import main, names
from benchmarks.harness import Row
from tests.network.allowed import may_make_them
from tests.soak import rows
from tests.spark import need_java
from tests.system import descendants, is_running

# The others take 3 to 50 s, in long runs only.
SHORT = [
    "autograd",
    "backups",
    "bridge",
    "checkpoint",
    "cutorch",
    "ipc",
    "luaps",
    "processors",
    "sampling",
    "starts",
    "t7",
    "torch7",
]

NAMES = [name for name in names() if name not in {"large", "network"} or may_make_them()]


def row(**fields: object) -> Row:
    values: dict[str, object] = {
        "table": "t",
        "what": "w",
        "ours": 2.0,
        "unit": "us",
        "peer": "p",
        "theirs": 4.0,
    }
    return Row(**(values | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "met"),
    [
        ("", None),
        ("<= 0.5x", True),
        ("<= 0.4x", False),
        (">= 0.5x", True),
        (">= 1.7x", False),
        ("<= 2 us", True),
        ("<= 1.9 us", False),
        (">= 3 us", False),
    ],
)
def test_a_target_bounds_the_ratio_or_the_number_itself(target: str, met: bool | None) -> None:
    assert row(target=target).met is met


@pytest.mark.parametrize("target", ["fast", "< 2 us", "<= 2 ms", "<= us"])
def test_a_target_that_cannot_be_judged_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="target"):
        row(target=target)


def test_a_ratio_needs_a_peer() -> None:
    assert row(theirs=None).ratio is None
    with pytest.raises(ValueError, match="no peer"):
        row(theirs=None, target="<= 2x")


@pytest.mark.slow
def test_times_are_those_of_one_call() -> None:
    nothing, much = harness.seconds_per_call(lambda: None, lambda: sum(range(10_000)))
    assert 0 < nothing < much < 0.1


def test_the_table_shows_numbers_ratio_and_mark() -> None:
    out = io.StringIO()
    harness.print_tables([row(target="<= 0.4x")], Console(file=out, width=120))
    text = out.getvalue()
    assert all(part in text for part in ("2.00", "4.00", "0.50", "us", "missed"))


def test_the_json_has_every_row_with_its_ratio_and_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "new" / "rows.json"
    rows = [row(target="<= 1x")]
    saved.write_json(saved.measured_today(rows, title="t", about="", command="c", quick=True), file)
    content = json.loads(file.read_text())
    assert content["rows"][0]["ratio"] == 0.5
    assert content["rows"][0]["met"] is True
    assert content["machine"]["cores"] >= 1


def test_an_unknown_benchmark_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no-such"])
    error = capsys.readouterr().err
    assert "no-such" in error
    assert all(name in error for name in names())


EVERYTHING_STARTED = """
import contextlib, time
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.redis_server import redis_loops
from benchmarks.nodes.round_trip import round_trips
from benchmarks.nodes.rpc import rpc_loops
with contextlib.ExitStack() as stack:
    for started in (cluster(2, 100, 1), redis_loops(100, 1), round_trips(), rpc_loops(100, 1)):
        stack.enter_context(started)
    print("started", flush=True)
    time.sleep(60)
"""


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_what_a_benchmark_of_nodes_has_started_ends_with_it(sent: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", EVERYTHING_STARTED],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        started = descendants(process.pid)
        process.send_signal(sent)
        process.wait(30)
    assert len(started) == 5  # a node, redis, ZeroMQ's other side, torch's two
    end = time.monotonic() + 20
    while any(map(is_running, started)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(is_running, started))


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", rows(SHORT, NAMES))
def test_every_benchmark_runs_and_gives_numbers(name: str) -> None:
    if name == "spark":
        need_java()
    module = importlib.import_module(f"benchmarks.{name}")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more of them wait for each other without end on a busy machine
    try:
        rows = module.run(True)
    finally:
        torch.set_num_threads(threads)
    assert rows
    assert all(math.isfinite(r.ours) and r.ours > 0 for r in rows)
