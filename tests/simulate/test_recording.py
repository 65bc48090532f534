"""What is recorded of an application, and how it is replayed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.apps.tasks import APPS
from benchmarks.simulate.program import simulate
from benchmarks.simulate.recording import Kind, record
from benchmarks.simulate.settings import Run
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


@native
@pytest.mark.parametrize("management", MANAGEMENTS)
@pytest.mark.parametrize(("app", "nodes"), [("dsgd", 2), ("word2vec", 5)])
def test_all_that_was_pushed_arrives(app: str, nodes: int, management: str, tmp_path: Path) -> None:
    work = record(APPS[app].small(), 2, tmp_path)
    found = simulate(Run(nodes=nodes, management=management, work=work))
    assert found.pushed == found.total > 0
    assert len(found.epochs(work.stages, apart=True)) == work.epochs
    assert all(seconds > 0 for seconds in found.epochs(work.stages, apart=True))
