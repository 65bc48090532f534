"""A control group's limit says no at creation, on all ranks, and what fits can be filled."""

from __future__ import annotations

import pytest

from tests.pyps.wholememory.crew import results
from tests.pyps.wholememory.groups import group

LIMIT = 768 << 20


@pytest.mark.slow
def test_a_group_that_one_rank_is_in_limits_what_all_create() -> None:
    source = """
leave_out_others()
if rank == 1:
    with open(given + '/cgroup.procs', 'w') as file: file.write(str(os.getpid()))
wm.barrier()
try:
    wm.create_tensor([1 << 30], [], torch.uint8, True, [])
except MemoryError as error:
    refused = str(error)
a = wm.create_tensor([64 << 20], [], torch.uint8, True, [])
if rank == 1: a.fill_(1)
wm.barrier()
result = refused, a.sum().item()
wm.barrier()
"""
    with group(LIMIT) as made:
        found = results(source, given=[str(made)] * 2)
    for refused, total in found:
        assert "the tensor needs 1,073,741,824 bytes, and " in refused
        assert total == 64 << 20
