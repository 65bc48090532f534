"""One node's memory in native programs: threads, killed processes, slabs, changes, any keys, sampling."""

from __future__ import annotations

import re

import pytest

from tests import soak
from tests.pyps.native import Programs, native, times


@native
@pytest.mark.parametrize("program", ["slabs", "row_order", "use_counts"])
def test_native_program(programs: Programs, program: str) -> None:
    assert programs.run(program) == "ok\n"


@native
def test_samples_follow_their_distributions(programs: Programs) -> None:
    assert programs.run("sampling", times(1)) == "ok\n"


@native
@pytest.mark.parametrize(
    "program", ["threads", "changes", "any_keys", "evictions", "expiry", "glances", "whole_rows"]
)
def test_native_program_of_many_threads(threaded_programs: Programs, program: str) -> None:
    assert threaded_programs.run(program) == "ok\n"


@native
def test_hashed_keys_keep_their_rows_while_who_makes_them_is_killed(programs: Programs) -> None:
    kills = min(soak.times(20), 100)  # there is room for so many
    for _ in range(0, soak.times(20), kills):
        assert programs.run("rows", str(kills)) == "ok\n"


@native
def test_rows_of_deleted_keys_are_used_again_while_workers_are_killed(threaded_programs: Programs) -> None:
    assert threaded_programs.run("deleted_rows", times(10)) == "ok\n"


@native
def test_optimizers_use_their_memory_only_and_survive_kills(programs: Programs) -> None:
    assert programs.run("optimizers", times(100)) == "ok\n"


@native
def test_killed_workers_leave_whole_values(threaded_programs: Programs) -> None:
    """Hundreds of SIGKILLs into pushes of 100 floats; nobody waits for a second."""
    output = threaded_programs.run("killed_worker", times(200), "1000")
    restored = re.search(r"(\d+) values restored", output)
    assert restored is not None
    assert int(restored[1]) > 0
