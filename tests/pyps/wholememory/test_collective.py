"""Collective calls succeed on all ranks or raise on all of them, by name and in time."""

from __future__ import annotations

import pytest

from tests.pyps.wholememory import kills
from tests.pyps.wholememory.crew import run

CREATE = "wm.create_tensor([4, 3], [], torch.float32, True, [])\n"
# One argument that rank 1 gives otherwise, and what the error says on every rank.
DIFFERENT = {
    "shape": (
        "[4 + (rank == 1), 3], [], torch.float32, True, []",
        "rank 1 gives shape=[5, 3], rank 0 gives [4, 3]",
    ),
    "strides": ("[4, 3], [3, 1] if rank != 1 else [1, 4], torch.float32, True, []", "strides=[1, 4]"),
    "dtype": ("[4, 3], [], torch.int32 if rank == 1 else torch.float32, True, []", "dtype='torch.int32'"),
}
# Arguments that do not fit, given by rank 1 alone.
WRONG = {
    "negative": ("[4, -3], [], torch.float32, True, []", "ValueError", "a size cannot be negative"),
    "overflow": (
        "[1 << 40, 1 << 40], [], torch.float32, True, []",
        "ValueError",
        "no address reaches so far",
    ),
    "huge int": ("[1 << 90], [], torch.float32, True, []", "ValueError", "no address reaches so far"),
    "stride overflow": (
        "[4, 2], [1 << 62, 1], torch.float32, True, []",
        "ValueError",
        "no address reaches so far",
    ),
    "overlap": ("[4, 3], [1, 1], torch.float32, True, []", "ValueError", "overlap"),
    "stride 0": ("[4, 3], [0, 1], torch.float32, True, []", "ValueError", "overlap"),
    "negative stride": (
        "[4, 3], [-3, 1], torch.float32, True, []",
        "ValueError",
        "a stride cannot be negative",
    ),
    "stride count": (
        "[4, 3], [1], torch.float32, True, []",
        "ValueError",
        "strides has 1 numbers and shape 2",
    ),
    "dtype name": ("[4, 3], [], 'float32', True, []", "TypeError", "give one of torch's"),
    "numpy dtype": ("[4, 3], [], np.float32, True, []", "TypeError", "give one of torch's"),
    "float size": ("[4.0, 3], [], torch.float32, True, []", "TypeError", "4.0 is not a whole number"),
    "bool size": ("[True, 3], [], torch.float32, True, []", "TypeError", "True is not a whole number"),
    "shape": ("4, [], torch.float32, True, []", "TypeError", "give a list of whole numbers"),
    "dimensions": ("[1] * 65, [], torch.float32, True, []", "ValueError", "at most 64"),
    "kind": ("[4, 3], [], torch.float32, 'host', []", "TypeError", "give True or False"),
    "too large": (
        "[1 << 44], [], torch.float32, True, []",
        "MemoryError",
        "are left to promise on this host",
    ),
}
AFTERWARDS = "wm.barrier(); " + CREATE


@pytest.mark.slow
@pytest.mark.parametrize("case", DIFFERENT)
def test_different_arguments_raise_on_all_ranks_and_the_next_call_works(case: str) -> None:
    arguments, text = DIFFERENT[case]
    source = f"""
try:
    wm.create_tensor({arguments})
except wm.DisagreementError as error:
    result = str(error)
wm.barrier()
{CREATE}"""
    outcomes = run(source, 3)
    assert [o.error for o in outcomes] == [""] * 3
    assert all(text in o.result for o in outcomes), outcomes
    assert max(o.seconds for o in outcomes) < 3


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("who", [0, 1])
def test_a_wrong_argument_of_one_rank_raises_on_all(case: str, who: int) -> None:
    arguments, kind, text = WRONG[case]
    source = f"""
try:
    if rank == {who}:
        wm.create_tensor({arguments})
    else:
        {CREATE}
except Exception as error:
    result = type(error).__name__, str(error)
wm.barrier()
{CREATE}"""
    outcomes = run(source, 2)
    assert [o.error for o in outcomes] == ["", ""], outcomes
    kinds = {kind, "DisagreementError"} if case == "too large" else {kind}
    assert {o.result[0] for o in outcomes} <= kinds
    if case != "too large":
        assert all(text in o.result[1] for o in outcomes), outcomes
        assert f"rank {who}: " in outcomes[1 - who].result[1]


def test_what_no_host_can_back_is_refused_on_all_ranks() -> None:
    outcomes = run("wm.create_tensor([1 << 44], [], torch.float32, True, [])", 2)
    assert [o.error for o in outcomes] == ["MemoryError"] * 2
    assert all("70,368,744,177,664 bytes, and " in o.text for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["barrier", "create_tensor"])
@pytest.mark.parametrize("who", [0, pytest.param(1, marks=pytest.mark.long), 2])
def test_a_rank_that_does_not_come_is_named_on_all_others(call: str, who: int) -> None:
    made = {"barrier": "wm.barrier(timeout=1)", "create_tensor": CREATE.replace("[])", "[], timeout=1)")}[
        call
    ]
    source = f"""
if rank != {who}:
    try:
        {made}
    except TimeoutError as error:
        result = str(error)
else:
    time.sleep(1.5)
    try:
        {made}
    except TimeoutError as error:
        result = 'late: ' + str(error)
time.sleep(0.5)
wm.barrier()
"""
    outcomes = run(source, 3)
    assert [o.error for o in outcomes] == [""] * 3, outcomes
    for rank, outcome in enumerate(outcomes):
        assert f"rank {who} (process " in outcome.result, outcome
        assert f"did not come to {call} within 1 s" in outcome.result
        assert outcome.result.startswith("late: ") is (rank == who)


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 1, 2])
@pytest.mark.parametrize("call", ["wm.barrier()", CREATE])
def test_a_killed_rank_is_named_on_all_others_at_once(who: int, call: str) -> None:
    source = f"""
if rank == {who}:
    time.sleep(0.3)
    os.kill(os.getpid(), 9)
{call}
"""
    outcomes = run(source, 3)
    assert outcomes[who].error == "killed"
    for rank, outcome in enumerate(outcomes):
        if rank != who:
            assert (outcome.error, f"rank {who} (process " in outcome.text) == ("RankLost", True), outcome
            assert outcome.seconds < 5


def test_a_rank_that_has_left_is_named() -> None:
    source = """
if rank == 1: wm.finalize_lib()
else: wm.barrier()
"""
    first, second = run(source)
    assert (first.error, second.error) == ("RankLost", "")
    assert "has called finalize_lib" in first.text


def test_ranks_that_call_different_functions_raise() -> None:
    outcomes = run(f"if rank: wm.barrier()\nelse: {CREATE}")
    assert {o.error for o in outcomes} == {"DisagreementError"}


def test_ranks_that_call_for_different_groups_raise() -> None:
    outcomes = run("wm.barrier([0, 1] if rank == 1 else [])", 3)
    assert {o.error for o in outcomes} <= {"DisagreementError", "WaitTimeoutError"}
    assert "" not in {o.error for o in outcomes}


@pytest.mark.parametrize("ranks", ["[0, 0]", "[-1, 0]", "[0, 2]", "[1 - rank]"])
def test_ranks_that_are_none_are_refused_without_a_wait(ranks: str) -> None:
    outcomes = run(f"wm.barrier({ranks})")
    assert [o.error for o in outcomes] == ["ValueError"] * 2
    assert all(o.text.startswith("ranks is [") for o in outcomes)


def test_a_rank_that_cannot_map_the_memory_makes_all_raise() -> None:
    source = """
import resource
if rank == 1:
    used = int(open('/proc/self/statm').read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
wm.create_tensor([1 << 30], [], torch.uint8, True, [])
"""
    first, second = run(source)
    assert (first.error, second.error) == ("MemoryError", "MemoryError")
    assert first.text.startswith("rank 1: ")
    assert "ulimit -v" in second.text


def test_a_limit_on_files_makes_all_raise() -> None:
    source = """
import resource
if rank == 0: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
wm.create_tensor([1 << 22], [], torch.uint8, True, [])
"""
    assert [(o.error, "ulimit -a" in o.text) for o in run(source)] == [("MemoryError", True)] * 2


@pytest.mark.long
def test_kills_at_any_moment_leave_nothing() -> None:
    assert kills.run(24) == 24
