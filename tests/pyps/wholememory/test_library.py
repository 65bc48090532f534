"""Beginning and ending: in any order, twice, in forked processes, and by any way of starting processes."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import pyps
from pyps import wholememory as wm
from tests.conftest import Processes
from tests.pyps.wholememory.crew import results, run
from tests.python_path import python_path
from tests.torchrun import lines_of, torchrun

CALLS = {
    "get_rank": wm.get_rank,
    "get_size": wm.get_size,
    "barrier": wm.barrier,
    "create_tensor": lambda: wm.create_tensor([3], [], torch.float32, True, []),
}
# The guide of WholeMemory's authors for PyTorch, with the host's memory.
GUIDE = """
import sys
import torch
from pyps import wholememory as wm

def main(rank, size):
    wm.init_lib()
    wm.mp_init(rank, size)
    a = wm.create_tensor([1000, 512], [], torch.float32, True, [])
    view = wm.get_tensor_view(a, torch.device("cpu"))
    view[rank] = rank + 1
    wm.barrier()
    print(f"rank={rank}, sum={a.sum().item():.0f}", flush=True)
    del a, view
    wm.finalize_lib()
"""
STARTS = {
    "spawn": """
import torch.multiprocessing as mp
if __name__ == "__main__":
    mp.spawn(main, args=(2,), nprocs=2)
""",
    "fork": """
import os
if __name__ == "__main__":
    children = []
    for rank in range(2):
        if (pid := os.fork()) == 0:
            main(rank, 2)
            sys.exit(0)
        children.append(pid)
    sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))
""",
    "fork with the parent as a rank": """
import os
if __name__ == "__main__":
    wm.init_lib()
    init, wm.init_lib = wm.init_lib, lambda: None
    pid = os.fork()
    main(0 if pid else 1, 2)
    if not pid:
        sys.exit(0)
    sys.exit(os.waitpid(pid, 0)[1])
""",
    "variables": """
import os
if __name__ == "__main__":
    main(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
""",
}


@pytest.fixture
def library() -> Iterator[None]:
    wm.init_lib()
    yield
    wm.finalize_lib()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_before_init_lib_says_so(call: str) -> None:
    with pytest.raises(pyps.ClosedError, match=r"call wm\.init_lib\(\) first"):
        CALLS[call]()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_before_mp_init_says_so(library: None, call: str) -> None:
    with pytest.raises(pyps.ClosedError, match=r"call wm\.mp_init\(rank, size\) first"):
        CALLS[call]()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_after_finalize_lib_says_so(call: str) -> None:
    wm.init_lib()
    wm.mp_init(0, 1)
    wm.finalize_lib()
    with pytest.raises(pyps.ClosedError, match=r"after wm\.finalize_lib\(\) it begins anew"):
        CALLS[call]()


def test_calling_twice_is_refused_and_changes_nothing(library: None) -> None:
    with pytest.raises(RuntimeError, match="init_lib was called before"):
        wm.init_lib()
    wm.mp_init(0, 1)
    with pytest.raises(RuntimeError, match="this process is rank 0 of 1"):
        wm.mp_init(0, 1)
    assert wm.get_size() == 1


def test_finalize_lib_twice_is_refused() -> None:
    wm.init_lib()
    wm.finalize_lib()
    with pytest.raises(pyps.ClosedError, match="init_lib"):
        wm.finalize_lib()


def test_it_can_begin_and_end_again_and_again() -> None:
    source = """
for number in range(5):
    wm.init_lib()
    wm.mp_init(rank, size, timeout=10)
    a = wm.create_tensor([2], [], torch.int64, True, [])
    a[rank] = number
    wm.barrier()
    result = a.tolist()
    wm.barrier()
    wm.finalize_lib()
"""
    assert results(source, begin=False) == [[4, 4]] * 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((2, 2), r"rank is 2; with size 2 it must be in \[0, 2\)"),
        ((-1, 2), "rank is -1; it must be at least 0"),
        ((0, 0), "size is 0; it must be at least 1"),
    ],
)
def test_a_rank_that_is_none_is_refused(library: None, arguments: tuple[int, int], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        wm.mp_init(*arguments)


@pytest.mark.parametrize("arguments", [("0", 1), (0, 1.0), (True, 2)])
def test_a_rank_of_another_type_is_refused(library: None, arguments: tuple[int, int]) -> None:
    with pytest.raises(TypeError, match="must be a whole number"):
        wm.mp_init(*arguments)


@pytest.mark.long
def test_ranks_that_do_not_come_are_named_on_those_that_came() -> None:
    """Each waits for as long as it wants: whoever gives up first stays until the others have, too."""
    source = """
import time
if rank != 1:
    wm.init_lib()
    try:
        wm.mp_init(rank, 3, timeout=1)
    except TimeoutError:
        time.sleep(2)
        raise
"""
    outcomes = run(source, 3, begin=False)
    assert [o.error for o in outcomes] == ["WaitTimeoutError", "", "WaitTimeoutError"]
    assert all("rank 1 of 3 did not come to mp_init" in outcomes[rank].text for rank in (0, 2))
    assert max(o.seconds for o in outcomes) < 7


@pytest.mark.slow
def test_a_rank_that_is_killed_in_mp_init_is_named() -> None:
    source = """
import threading, signal
wm.init_lib()
if rank == 1:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
if rank != 2:
    wm.mp_init(rank, 3, timeout=20)
"""
    first, second, _ = run(source, 3, begin=False)
    assert (first.error, second.error) == ("RankLost", "killed")
    assert first.seconds < 10


def test_different_sizes_are_an_error_on_all() -> None:
    outcomes = run("wm.init_lib(); wm.mp_init(rank, rank + 2, timeout=20)", begin=False)
    assert {o.error for o in outcomes} == {"StartError"}
    assert all("gave size" in o.text for o in outcomes)


@pytest.mark.slow
def test_a_rank_that_comes_twice_is_refused_and_the_others_go_on() -> None:
    source = """
wm.init_lib()
if rank == 2:
    time.sleep(0.5)
    try:
        wm.mp_init(0, 2, timeout=5)
    except Exception as error:
        result = str(error)
    with open(given, 'w'): pass
elif rank == 0:
    wm.mp_init(0, 2, timeout=5)
else:
    while not os.path.exists(given): time.sleep(0.01)
    wm.mp_init(1, 2, timeout=5)
"""
    with tempfile.TemporaryDirectory() as place:
        outcomes = run(source, 3, begin=False, given=[f"{place}/come"] * 3)
    assert [o.error for o in outcomes] == [""] * 3
    assert "rank 0 has come to mp_init already, as process" in outcomes[2].result


def test_two_jobs_beside_each_other_have_groups() -> None:
    source = """
wm.init_lib()
wm.mp_init(rank % 2, 2, group=f'job {rank // 2}', timeout=10)
a = wm.create_tensor([1], [], torch.int64, True, [])
if rank % 2 == 0: a[0] = rank
wm.barrier()
result = a.item()
wm.barrier()
"""
    assert results(source, 4, begin=False) == [0, 0, 2, 2]


def test_a_forked_process_keeps_tensors_and_is_no_rank() -> None:
    source = """
a = wm.create_tensor([3], [], torch.float32, True, [])
texts = os.pipe()
if (pid := os.fork()) == 0:
    a[1] = 7
    try:
        wm.barrier()
    except RuntimeError as error:
        os.write(texts[1], str(error).encode())
    wm.init_lib()
    wm.mp_init(0, 1)
    b = wm.create_tensor([3], [], torch.float32, True, [])
    wm.finalize_lib()
    os._exit(0)
os.waitpid(pid, 0)
text = os.read(texts[0], 1000).decode()
wm.barrier()
result = a[1].item(), text
"""
    for value, text in results(source):
        assert value == 7
        assert "forked from rank" in text


def said(output: str) -> list[str]:
    """What the ranks printed, also where two did in one line."""
    return sorted(re.findall(r"rank=\d, sum=\d+", output))


@pytest.mark.long
@pytest.mark.parametrize("way", STARTS)
def test_the_guide_runs_by_any_way_of_starting(way: str, tmp_path: Path, processes: Processes) -> None:
    program = tmp_path / "guide.py"
    program.write_text(GUIDE + STARTS[way])
    commands = {
        "variables": [sys.executable, "-m", "moontide", "launch", "-n", "2", str(program)],
    }
    started = processes(
        commands.get(way, [sys.executable, "-W", "error", str(program)]),
        env={**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1"},
    )
    output, _ = started.communicate(timeout=100)
    assert started.returncode == 0
    assert said(output) == ["rank=0, sum=1536", "rank=1, sum=1536"]


@pytest.mark.long
def test_the_guide_runs_under_torchrun(tmp_path: Path, processes: Processes) -> None:
    program = tmp_path / "guide.py"
    program.write_text(GUIDE + STARTS["variables"])
    output = "\n".join(lines_of(torchrun(processes, tmp_path, sys.executable, program, count=4)))
    assert said(output) == [f"rank={rank}, sum=5120" for rank in range(4)]
