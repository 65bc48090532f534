"""The service finds models and functions, follows changed files, and ends within its grace."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.serve.engine import ModelSettings, Reason, Refused, Service

ONE = "local M = {} function M.both(x) return 1 end function M.one(x) return {a = x} end return M"
TWO = "local M = {} function M.both(x) return 2 end function M.long() while true do end end return M"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "one.lua").write_text(ONE)
    (tmp_path / "two.lua").write_text(TWO)
    return tmp_path


async def refused(work: Any) -> tuple[Reason, str]:
    with pytest.raises(Refused) as caught:
        await work
    return caught.value.reason, str(caught.value)


@pytest.mark.slow
def test_a_function_is_found_by_its_name(place: Path) -> None:
    async def main() -> None:
        async with Service([place], watch=0) as service:
            assert await service.call("one", [[5]]) == {"a": [5]}
            assert await service.call("both", [0], "two") == 2
            reason, told = await refused(service.call("both", [0]))
            assert reason is Reason.AMBIGUOUS
            assert told == "several models have a function 'both': /call/one/both, /call/two/both"
            assert await refused(service.call("none", [])) == (
                Reason.UNKNOWN,
                "there is no function 'none'; there is one: both, one, two: both, long",
            )
            reason, told = await refused(service.call("one", [], "two"))
            assert (reason, told) == (Reason.UNKNOWN, "model 'two' has no function 'one'; it has both, long")
            assert (await refused(service.infer("three", {})))[0] is Reason.UNKNOWN

    asyncio.run(main())


@pytest.mark.slow
def test_a_model_is_called_what_it_is_told(place: Path) -> None:
    async def main() -> None:
        settings = ModelSettings(function="one")
        async with Service([place / "one.lua"], settings, name="net", watch=0) as service:
            version, outputs = await service.infer("net", {"x": np.ones(2)})
            assert (version, list(outputs)) == ("1", ["a"])
            assert outputs["a"].tolist() == [1, 1]  # type: ignore[union-attr]

    asyncio.run(main())
    with pytest.raises(ValueError, match="name='net' is for one model; there are one, two"):
        Service([place], name="net")


def test_there_has_to_be_a_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no model to serve"):
        Service([tmp_path])


@pytest.mark.slow
def test_it_looks_for_changed_files_by_itself(place: Path) -> None:
    async def main() -> None:
        async with Service([place / "one.lua"], watch=0.01) as service:
            fresh = place / "fresh"
            fresh.write_text(ONE.replace("return 1", "return 'changed'"))
            fresh.replace(place / "one.lua")
            async with asyncio.timeout(60):
                while await service.call("both", [0]) == 1:
                    await asyncio.sleep(0.01)
            assert await service.call("both", [0]) == "changed"

    asyncio.run(main())


@pytest.mark.slow
def test_the_end_comes_after_its_grace(place: Path) -> None:
    async def main() -> None:
        service = Service([place / "two.lua"], watch=0)
        await service.start()
        assert service.ready
        long = asyncio.create_task(service.call("long", []))
        served = service.repository.find("two")
        while served.statistics.batches == 0:
            await asyncio.sleep(0.01)
        began = time.monotonic()
        await service.stop(0.2)
        assert time.monotonic() - began >= 0.2
        assert (await refused(long))[0] is Reason.LOST
        assert not service.ready
        assert await refused(service.call("both", [])) == (Reason.LOST, "the server is ending")

    asyncio.run(main())


@pytest.mark.slow
def test_metrics_name_every_model(place: Path) -> None:
    async def main() -> None:
        async with Service([place], watch=0) as service:
            await service.call("both", [0], "one")
            lines = service.metrics().decode().splitlines()
            counted = [line for line in lines if line.startswith("moontide_inference_request_success")]
            assert sorted(line.rpartition("}")[2].strip() for line in counted) == ["0.0", "1.0"]
            assert all('model="' in line and 'version="1"' in line for line in counted)

    asyncio.run(main())
