"""Shares of processors: what a process computes that has one."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.apps.tasks import APPS
from benchmarks.network.hosts import Link
from benchmarks.network.shares import may_part_threads, remove_left, shares, slowness_of
from benchmarks.network.training import ALONE, train_on_hosts
from tests.system import PID_OF_NONE

ROOT = Path(__file__).parents[2]
BUSY = """
import sys, time
from pathlib import Path
from benchmarks.network.shares import join

join(Path(sys.argv[1]))
end = time.monotonic() + 1
start = time.process_time()
while time.monotonic() < end:
    pass
print(time.process_time() - start)
"""

APART = """
import sys, threading, time
from pathlib import Path
from benchmarks.network.shares import join, join_alone

def compute(alone):
    if alone and sys.argv[3] == "True":
        join_alone(Path(sys.argv[2]))
    end = time.monotonic() + 1
    start = time.thread_time()
    while time.monotonic() < end:
        sum(range(100))
    computed[alone] = time.thread_time() - start

computed = {}
join(Path(sys.argv[1]))
thread = threading.Thread(target=compute, args=(True,))
thread.start()
thread.join()
compute(False)
print(computed[True], computed[False])
"""


def computed(processors: float) -> float:
    """What a process computes in a second that has so many processors."""
    with shares(1, processors) as (group,):
        command = [sys.executable, "-c", BUSY, str(group)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert not group.exists()
    return float(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("processors", [0.25, 0.5])
def test_a_process_computes_its_share(processors: float) -> None:
    assert computed(processors) < 1.1 * processors


@pytest.mark.slow
@pytest.mark.parametrize("processors", [0.5, 0.75])
def test_a_share_is_not_lost_while_a_process_computes(processors: float) -> None:
    """The system looks often enough at what groups compute; else a quarter of it is lost."""
    assert max(computed(processors) for _ in range(3)) > 0.9 * processors


@pytest.mark.slow
def test_a_thread_has_another_share_than_its_process() -> None:
    """Where groups are of version 1; elsewhere threads stay with their process."""
    with shares(1, 0.2) as (group,), shares(1, 0.5) as (other,):
        apart = other if may_part_threads() else group
        command = [sys.executable, "-c", APART, str(group), str(apart), str(may_part_threads())]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    alone, of_process = map(float, done.stdout.split())
    assert of_process < 0.27
    assert alone > 0.27 if may_part_threads() else alone < 0.27


def test_several_processes_at_once_remove_what_was_left() -> None:
    """A group whose processes have not ended yet stays until they have."""
    with shares(1, 1.0) as (group,):
        left = [group / f"moontide-{PID_OF_NONE}-{number}" for number in range(64)]
        for name in left:
            name.mkdir()
        with subprocess.Popen(["sleep", "60"]) as busy:
            (left[0] / "cgroup.procs").write_text(f"{busy.pid}")
            with ThreadPoolExecutor(4) as pool:
                for done in [pool.submit(remove_left, group) for _ in range(4)]:
                    done.result()
            assert [name for name in left if name.exists()] == left[:1]
            busy.kill()
        remove_left(group)
        assert not left[0].exists()


def test_more_nodes_are_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the machine is the network's, where there is one."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2, 5})
    assert [slowness_of(nodes, 2) for nodes in (1, 2, 3, 6)] == [1.0, 4 / 3, 2.0, 4.0]


@pytest.mark.long
def test_hosts_learn_as_one_machine_does() -> None:
    """The same task on two hosts with a delay, and its packets went through the relay."""
    app, link = APPS["dsgd"], Link(0.0005, 1e10)
    seen, passed = train_on_hosts(app.small(), management="intent", nodes=2, epochs=app.epochs, link=link)
    assert seen[-1].quality < app.reached + app.tolerance
    assert passed.passed > 100
    assert all(epoch.seconds > 0 for epoch in seen)
    assert all(epoch.core_seconds > 0 for epoch in seen)


@pytest.mark.long
def test_hosts_that_train_alone_learn_all_of_it() -> None:
    """Each does what one host does, at the same time, and sends nothing."""
    app, link = APPS["dsgd"], Link(0.0005, 1e10)
    one, two = (
        train_on_hosts(app.small(), management=ALONE, nodes=nodes, epochs=2, link=link) for nodes in (1, 2)
    )
    for epoch, same in zip(one[0], two[0], strict=True):
        assert epoch.samples == same.samples > 0
        assert epoch.quality == pytest.approx(same.quality)
        assert same.share_local == 1.0
        assert same.seconds > 0
    assert two[1].passed < 20
