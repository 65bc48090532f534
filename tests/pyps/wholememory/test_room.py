"""What is promised: never more than the host, and every control group above the process, can back."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
import torch

from pyps.wholememory import memory, room
from pyps.wholememory.layout import check_layout
from tests.pyps.wholememory.crew import Rank, results

MEMINFO = "MemTotal: 3200 kB\nMemFree: 100 kB\nMemAvailable: 2000 kB\n"
GROUPS = {
    "none": ("0::/\n", {}, 1900),
    "second version": (
        "0::/a/b\n",
        {
            "a/memory.max": "1024000",
            "a/memory.current": "512000",
            "a/memory.stat": "anon 1\ninactive_file 102400\n",
            "a/b/memory.max": "max",
            "a/b/memory.current": "5",
        },
        600,
    ),
    "first version": (
        "4:memory:/job\n3:cpuset:/\n0::/\n",
        {
            "memory/job/memory.limit_in_bytes": "204800",
            "memory/job/memory.usage_in_bytes": "102400",
            "memory/job/memory.stat": "total_inactive_file 0\n",
            "memory/memory.limit_in_bytes": "9223372036854771712",
            "memory/memory.usage_in_bytes": "99",
        },
        100,
    ),
}


def a_root(place: Path, cgroup: str, files: dict[str, str]) -> Path:
    everything = {"proc/meminfo": MEMINFO, "proc/self/cgroup": cgroup}
    for name, text in {
        **everything,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def file_of(descriptor: Path) -> str:
    """Return the name of a memory file."""
    return descriptor.readlink().name.removeprefix("memfd:").split()[0]


def promised(name: str) -> int:
    """Return what a memory file may still take; what the whole host's may changes at any moment."""
    return room.promised(room.memory_files(name))


@pytest.mark.parametrize("case", GROUPS)
def test_the_smallest_of_host_and_groups_counts(case: str, tmp_path: Path) -> None:
    cgroup, files, kilobytes = GROUPS[case]
    assert room.available(a_root(tmp_path, cgroup, files)) == kilobytes * 1024


def test_the_margin_is_a_part_of_the_hosts_memory(tmp_path: Path) -> None:
    assert room.available(a_root(tmp_path, "0::/\n", {})) == (2000 - 3200 // 32) * 1024


@pytest.mark.parametrize(("text", "strict"), [("0\n", False), ("1\n", False), ("2\n", True)])
def test_a_system_that_counts_strictly_is_known(tmp_path: Path, text: str, strict: bool) -> None:
    (tmp_path / "proc/sys/vm").mkdir(parents=True)
    (tmp_path / "proc/sys/vm/overcommit_memory").write_text(text)
    assert room.counts_strictly(tmp_path) is strict


def test_where_the_system_counts_strictly_memory_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "counts_strictly", lambda: True)
    fd = memory.create([check_layout([1 << 20], [], torch.float32)])
    assert os.fstat(fd).st_blocks * 512 >= 4 << 20
    os.close(fd)


def test_what_others_may_still_take_is_promised_once_whoever_holds_it() -> None:
    fd = memory.create([check_layout([1 << 30], [], torch.uint8)])
    other = os.dup(fd)
    name = file_of(Path(f"/proc/self/fd/{fd}"))
    assert (1 << 30) <= promised(name) < (1 << 30) + (1 << 20)
    assert room.promised() >= 1 << 30  # with what other programs have been promised
    os.posix_fallocate(fd, 0, 1 << 26)
    assert promised(name) < (1 << 30) - (1 << 26) + (1 << 20)
    os.close(fd)
    assert len(list(room.memory_files(name))) == 1
    os.close(other)
    assert promised(name) == 0


def test_what_one_process_was_promised_another_one_is_not() -> None:
    source = """
from pyps.wholememory import memory, room
from pyps.wholememory.layout import check_layout
leave_out_others()
room.available = lambda: 3 << 29
if rank == 1: own = memory.create([check_layout([1 << 30], [], torch.uint8)])
wm.barrier()
try:
    wm.create_tensor([1 << 29], [], torch.uint8, True, [])
except MemoryError as error:
    refused = str(error)
a = wm.create_tensor([1 << 28], [], torch.uint8, True, [])
result = refused, room.room()
wm.barrier()
"""
    for refused, left in results(source):
        assert (
            "1,610,612,736 are available, and other tensors may still take 1,073,741,824 of them" in refused
        )
        assert left == 1 << 28


def test_the_room_of_the_rank_with_least_counts() -> None:
    source = """
from pyps.wholememory import room
if rank == 1:
    room.available = lambda: 1 << 20
try:
    wm.create_tensor([1 << 21], [], torch.uint8, True, [])
except MemoryError as error:
    result = str(error)
"""
    assert all("needs 2,097,152 bytes, and " in text for text in results(source))


@pytest.mark.slow
def test_a_killed_process_gives_back_its_turn_and_its_promise() -> None:
    source = """
from pyps.wholememory import memory, room
from pyps.wholememory.layout import check_layout
fd = memory.create([check_layout([1 << 30], [], torch.uint8)])
with room.one_at_a_time(time.monotonic() + 5):
    open(given, 'w').close()
    time.sleep(60)
"""
    with tempfile.TemporaryDirectory() as place:
        holder = Rank(source, 0, 1, f"{place}/held", False)
        deadline = time.monotonic() + 20
        while not Path(place, "held").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        start = time.monotonic()
        pid = holder.process.pid
        assert pid is not None
        [name] = {file_of(path) for path in room.memory_files() if path.parts[2] == str(pid)}
        assert promised(name) >= 1 << 30
        with (
            pytest.raises(TimeoutError, match=f"process {pid} is creating a tensor"),
            room.one_at_a_time(start + 0.2),
        ):
            pass
        os.kill(pid, signal.SIGKILL)
        with room.one_at_a_time(time.monotonic() + 5):
            assert holder.finish().error == "killed"
    assert promised(name) == 0
