"""A model's process for asyncio: what ends it, and what does not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.serve import CallTimeout, ProcessLost
from bridge.serve.process import Member, Wanted

PROGRAM = """
local ffi = require 'ffi'
ffi.cdef 'int raise(int); int usleep(unsigned);'
local M = {}
function M.echo(x) return x end
function M.crash() ffi.C.raise(11) end
function M.loop() while true do end end
function M.sleep(x) ffi.C.usleep(x * 1e6) return 'slept' end
function M.error() error('no such luck') end
return M
"""


def with_member(file: Path, use: Callable[[Member], Awaitable[None]], **wanted: Any) -> None:
    file.write_text(PROGRAM)

    async def main() -> None:
        member = Member(Wanted(str(file), **wanted))
        await member.start()
        try:
            await asyncio.wait_for(use(member), 60)
        finally:
            member.end()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.slow
def test_a_crash_or_a_loop_ends_the_process_and_a_start_brings_it_back(tmp_path: Path) -> None:
    async def use(member: Member) -> None:
        with pytest.raises(ProcessLost, match="SIGSEGV"):
            await member.call("crash", [], 10)
        assert not member.alive
        with pytest.raises(ProcessLost, match="not running"):
            await member.call("echo", [1], 10)
        await member.start()
        with pytest.raises(CallTimeout, match=r"no answer within 0\.2 s"):
            await member.call("loop", [], 0.2)
        assert member.pid is None
        await member.start()
        assert await member.call("echo", [1], 10) == 1

    with_member(tmp_path / "m.lua", use)


@pytest.mark.slow
def test_an_error_leaves_the_process_alone(tmp_path: Path) -> None:
    async def use(member: Member) -> None:
        before = member.pid
        with pytest.raises(bridge.LuaError, match="no such luck"):
            await member.call("error", [], 10)
        with pytest.raises(TypeError, match="cannot leave"):
            await member.call("echo", [object()], 10)
        with pytest.raises(ValueError, match="bytes beside the arrays"):
            await member.call("echo", ["x" * (65 << 20)], 10)
        assert await member.call("echo", ["long" * 500_000], 10) == "long" * 500_000
        assert member.pid == before

    with_member(tmp_path / "m.lua", use)


@pytest.mark.slow
def test_a_call_that_is_cancelled_ends_the_process(tmp_path: Path) -> None:
    """Else its answer would be the next call's."""

    async def use(member: Member) -> None:
        call = asyncio.create_task(member.call("sleep", [30], 60))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert member.pid is None
        await member.start()
        assert await member.call("echo", ["mine"], 10) == "mine"

    with_member(tmp_path / "m.lua", use)


@pytest.mark.slow
def test_the_end_is_told_to_the_one_who_waits(tmp_path: Path) -> None:
    async def use(member: Member) -> None:
        call = asyncio.create_task(member.call("sleep", [30], 60))
        await asyncio.sleep(0.05)
        member.end()
        with pytest.raises(ProcessLost, match="SIGKILL"):
            await asyncio.wait_for(call, 2)

    with_member(tmp_path / "m.lua", use)


@pytest.mark.slow
def test_threads_are_told_without_importing_torch(tmp_path: Path) -> None:
    async def use(member: Member) -> None:
        assert "libtorch" not in Path(f"/proc/{member.pid}/maps").read_text()

    with_member(tmp_path / "m.lua", use, threads=1)


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.1])
def test_a_start_that_is_given_up_leaves_no_process(tmp_path: Path, delay: float) -> None:
    (tmp_path / "m.lua").write_text("while true do end")

    async def main() -> None:
        member = Member(Wanted(str(tmp_path / "m.lua")))
        start = asyncio.create_task(member.start())
        await asyncio.sleep(delay)
        pid = member.pid
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        assert member.pid is None
        if pid is not None:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    asyncio.run(main())


@pytest.mark.slow
def test_a_file_that_cannot_be_loaded_leaves_no_process(tmp_path: Path) -> None:
    async def main() -> None:
        member = Member(Wanted(str(tmp_path / "none.lua")))
        with pytest.raises(FileNotFoundError):
            await member.start()
        assert member.pid is None

    asyncio.run(main())
