"""What is recorded of an application, and how it is replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.apps.tasks import APPS
from benchmarks.simulate import cold
from benchmarks.simulate.program import simulate
from benchmarks.simulate.recording import Kind, record, record_large
from benchmarks.simulate.settings import Run
from examples.apps.large import TASKS
from examples.apps.management import MANAGEMENTS
from tests.pyps.native import native

COLUMNS = 6  # of a file of steps


@pytest.mark.long
def test_a_recording_has_a_push_for_each_batch_and_its_keys(tmp_path: Path) -> None:
    work = record(APPS["word2vec"].small(), 2, tmp_path)
    assert work.stages == 1
    for worker in range(2):
        rows = np.fromfile(f"{work.base}.{worker}.steps", np.int64).reshape(-1, COLUMNS)
        keys = np.fromfile(f"{work.base}.{worker}.keys", np.int64)
        kinds = rows[:, 0].tolist()
        assert kinds.count(Kind.PUSH) == kinds.count(Kind.ADVANCE) == kinds.count(Kind.TELL_SAMPLE) > 0
        assert kinds.count(Kind.PULL) == 2 * kinds.count(Kind.PUSH)  # what is drawn is pulled by itself
        assert rows[:, 2].sum() == len(keys)
        assert 0 <= keys.min() <= keys.max() < work.keys


@pytest.mark.long
def test_a_worker_that_waited_computes_longer() -> None:
    found = cold.measured(APPS["dsgd"].small(), 2, 0.005)
    assert 0 < found.seconds < 0.005
    assert 1 < found.calls < 10


@native
def test_what_waits_cost_is_charged_where_a_worker_waits(tmp_path: Path) -> None:
    """Each batch waits for the other node once or twice with classic management, and never on one node."""
    work, each = record(APPS["dsgd"].small(), 1, tmp_path), 0.01
    rows = np.fromfile(f"{work.base}.0.steps", np.int64).reshape(-1, COLUMNS)
    pulls = rows[:, 0].tolist().count(Kind.PULL)
    for nodes in (1, 2):
        run = Run(nodes=nodes, management="classic", work=work)
        warm, longer = (simulate(replace(run, work=replace(work, cold=cost))) for cost in (0.0, each))
        more = longer.worker_seconds.mean - warm.worker_seconds.mean
        expected = 0 if nodes == 1 else work.epochs * pulls * each
        assert more == pytest.approx(expected, rel=0.2, abs=1e-9)


@native
@pytest.mark.parametrize("management", MANAGEMENTS)
@pytest.mark.parametrize(("app", "nodes"), [("dsgd", 2), ("word2vec", 5)])
def test_all_that_was_pushed_arrives(app: str, nodes: int, management: str, tmp_path: Path) -> None:
    work = record(APPS[app].small(), 2, tmp_path)
    found = simulate(Run(nodes=nodes, management=management, work=work))
    assert found.pushed == found.total > 0
    assert len(found.epochs(work.stages, apart=True)) == work.epochs
    assert all(seconds > 0 for seconds in found.epochs(work.stages, apart=True))


@pytest.mark.long
def test_workers_that_are_not_timed_compute_as_long_as_others_and_have_keys_of_their_own(
    tmp_path: Path,
) -> None:
    task = TASKS["text"](keys=20_000, width=4, samples=3 * 2 * 64, words_at_once=64)
    work = record_large(task, 3, tmp_path, timed=1, epochs=2)
    rows = [np.fromfile(f"{work.base}.{worker}.steps", np.int64).reshape(-1, COLUMNS) for worker in range(3)]
    keys = [np.fromfile(f"{work.base}.{worker}.keys", np.int64) for worker in range(3)]
    nanoseconds = [of_worker[:, COLUMNS - 1].tolist() for of_worker in rows]
    assert nanoseconds[0] == nanoseconds[1] == nanoseconds[2]
    assert (rows[0][:, 0] == Kind.PUSH).sum() == 2 * 2
    assert not np.array_equal(np.unique(keys[1]), np.unique(keys[2]))
    assert work.capacity == len(np.unique(np.concatenate(keys)))
    assert work.used == max(len(np.unique(of_worker)) for of_worker in keys)
    assert work.used < work.capacity_of(2, 1) <= work.capacity


@native
@pytest.mark.parametrize("management", MANAGEMENTS)
@pytest.mark.parametrize("app", TASKS)
def test_large_tasks_are_replayed(app: str, management: str, tmp_path: Path) -> None:
    sizes = {"keys": 20_000, "width": 4, "samples": 2 * 2 * 64}
    batch = {"words_at_once": 64} if app == "text" else {"batch_size": 64}
    work = record_large(TASKS[app](**sizes, **batch), 2, tmp_path, timed=1)
    found = simulate(Run(nodes=2, management=management, work=work))
    assert found.refused.most == 0
    assert found.pushed > 0
    assert len(found.epochs(work.stages, apart=True)) == 2
    assert found.messages.mean > 0
