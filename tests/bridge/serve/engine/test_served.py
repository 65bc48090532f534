"""A model behind its queue: what one request does costs no other its answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge.serve.engine import ModelSettings, Reason, Refused
from bridge.serve.engine.served import Served

PROGRAM = """
local ffi = require 'ffi'
ffi.cdef 'int raise(int); int usleep(unsigned); int getpid(void);'
local M = {}
function M.run(x)
   for i = 1, x:size(1) do
      if x[i][1] == -1 then error('poison') end
      if x[i][1] == -2 then ffi.C.raise(11) end
      if x[i][1] == -3 then while true do end end
   end
   return x * 2
end
function M.first(x) return x:narrow(1, 1, 1) end
function M.sleep(x) ffi.C.usleep(x * 1e6) return ffi.C.getpid() end
return M
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    program = tmp_path / "model.lua"
    program.write_text(PROGRAM)
    return program


def row(value: float) -> Any:
    return np.full((1, 2), value)


async def started(file: Path, **settings: Any) -> Served:
    served = Served("model", "1", file, ModelSettings(**settings))
    await served.start()
    return served


async def reason(request: Awaitable[Any]) -> Reason:
    with pytest.raises(Refused) as refused:
        await request
    return refused.value.reason


async def closed(served: Served) -> None:
    served.end()
    await asyncio.sleep(0)


@pytest.mark.slow
def test_requests_are_joined_and_each_gets_its_own(file: Path) -> None:
    async def main() -> None:
        served = await started(file, batch=16)
        answers = await asyncio.gather(*(served.submit("run", [row(n)]) for n in range(40)))
        assert [answer.tolist() for answer in answers] == [[[2.0 * n] * 2] for n in range(40)]
        assert 3 <= served.statistics.batches < 10
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "expected"), [(-1, Reason.FAILED), (-2, Reason.LOST)], ids=["error", "crash"]
)
def test_a_poisoned_row_costs_its_own_request(file: Path, value: float, expected: Reason) -> None:
    async def main() -> None:
        served = await started(file, batch=8)
        values = [1, 2, value, 3]
        first = asyncio.create_task(served.submit("sleep", [0.05]))
        found = await asyncio.gather(
            *(served.submit("run", [row(one)]) for one in values), return_exceptions=True
        )
        await first
        assert [one.tolist() for one in found if not isinstance(one, BaseException)] == [
            [[2.0 * one] * 2] for one in (1, 2, 3)
        ]
        assert isinstance(found[2], Refused)
        assert found[2].reason is expected
        assert (await served.submit("run", [row(4)])).tolist() == [[8, 8]]
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_results_of_other_rows_stop_joining(file: Path) -> None:
    async def main() -> None:
        served = await started(file, batch=8)
        for _ in range(2):
            found = await asyncio.gather(*(served.submit("first", [row(n)]) for n in range(6)))
            assert [one.tolist() for one in found] == [[[n, n]] for n in range(6)]
        assert served.statistics.joined.counts[0] >= 6
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_a_loop_is_late_and_its_process_replaced(file: Path) -> None:
    async def main() -> None:
        served = await started(file, timeout=1.0)
        (before,) = served.pids
        assert await reason(served.submit("run", [row(-3)])) is Reason.LATE
        async with asyncio.timeout(30):
            after = None
            while after is None:
                with contextlib.suppress(Refused):  # it may take longer to start than a request may wait
                    after = await served.submit("sleep", [0])
        assert after != before
        assert served.statistics.restarts == 1
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_a_process_that_was_killed_idle_costs_no_request(file: Path) -> None:
    async def main() -> None:
        served = await started(file, workers=2)
        for pid in served.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        found = await asyncio.gather(*(served.submit("run", [row(n)]) for n in range(4)))
        assert [one[0, 0] for one in found] == [0, 2, 4, 6]
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_a_full_queue_refuses(file: Path) -> None:
    async def main() -> None:
        served = await started(file, queue=1)
        tasks = [asyncio.create_task(served.submit("sleep", [0.1])) for _ in range(3)]
        await asyncio.gather(*tasks[:2])
        assert await reason(asyncio.wait_for(tasks[2], 1)) is Reason.BUSY
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_a_client_that_goes_leaves_nothing_in_the_queue(file: Path) -> None:
    async def main() -> None:
        served = await started(file)
        first, second = (asyncio.create_task(served.submit("sleep", [0.1])) for _ in range(2))
        await asyncio.sleep(0.02)
        assert served.waiting == 1
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert served.waiting == 0
        assert (await served.submit("run", [row(1)])).tolist() == [[2, 2]]
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
def test_what_waits_is_answered_before_it_leaves(file: Path) -> None:
    async def main() -> None:
        served = await started(file)
        crash = asyncio.create_task(served.submit("run", [row(-2)]))
        waiting = [asyncio.create_task(served.submit("run", [row(n)])) for n in range(3)]
        await asyncio.sleep(0)
        await served.leave()
        assert await reason(crash) is Reason.LOST
        assert [(await one)[0, 0] for one in waiting] == [0, 2, 4]
        assert await reason(served.submit("run", [row(1)])) is Reason.LOST
        assert served.pids == []

    asyncio.run(main())


@pytest.mark.slow
def test_requests_at_work_are_refused_when_it_ends(file: Path) -> None:
    async def main() -> None:
        served = await started(file)
        tasks = [asyncio.create_task(served.submit("sleep", [20])) for _ in range(2)]
        await asyncio.sleep(0.05)
        await closed(served)
        assert [await reason(asyncio.wait_for(one, 1)) for one in tasks] == [Reason.LOST] * 2
        assert served.pids == []

    asyncio.run(main())


@pytest.mark.slow
def test_what_cannot_travel_costs_no_process(file: Path) -> None:
    async def main() -> None:
        served = await started(file)
        deep: Any = 1
        for _ in range(300):
            deep = [deep]
        before = served.pids
        assert await reason(served.submit("sleep", [deep])) is Reason.FAILED
        assert await reason(served.submit("sleep", [object()])) is Reason.FAILED
        assert served.pids == before
        await served.leave()

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "joins"),
    [("nn.Linear(2, 2)", True), ("nn.Sequential():add(nn.SoftMax())", False), ("nn.SeqLSTM(2, 2)", False)],
    ids=["linear", "softmax", "steps"],
)
def test_networks_whose_rows_are_not_known_to_be_apart_join_nothing(
    tmp_path: Path, network: str, joins: bool
) -> None:
    with bridge.Lua() as lua:
        lua.execute(f"require 'rnn' torch.save(..., {network})", str(tmp_path / "m.t7"))

    async def main() -> None:
        served = await started(tmp_path / "m.t7")
        shape = (3, 1, 2) if "Seq" in network and "LSTM" in network else (1, 2)
        alone = await served.submit(None, [np.ones(shape)])
        together = await asyncio.gather(*(served.submit(None, [np.ones(shape)]) for _ in range(8)))
        assert all(np.allclose(one, alone) for one in together)
        assert (served.statistics.batches < 9) == joins
        await served.leave()

    asyncio.run(main())


def test_a_start_that_is_cancelled_leaves_no_process(file: Path) -> None:
    async def main() -> None:
        served = Served("model", "1", file, ModelSettings(workers=2))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(served.start(), 0.05)
        assert served.pids == []

    asyncio.run(main())
