"""Models follow their files: a change costs no request, and what cannot be loaded leaves the old one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.serve.engine import ModelSettings, Reason, Refused
from bridge.serve.engine.repository import Repository
from bridge.serve.engine.sources import repository

pytestmark = pytest.mark.slow


def write(file: Path, number: int) -> None:
    file.parent.mkdir(exist_ok=True)
    fresh = file.with_suffix(".fresh")
    fresh.write_text(f"function run(x) return x + {number} end -- {'.' * number}")
    fresh.replace(file)


@contextlib.asynccontextmanager
async def started(*paths: Path) -> AsyncIterator[Repository]:
    models = Repository(repository(paths), ModelSettings())
    await models.start()
    try:
        yield models
    finally:
        await models.leave()


async def answer(models: Repository, version: str | None = None) -> int:
    found: int = await models.find("m", version).submit("run", [0])
    return found


def test_a_changed_file_costs_no_request(tmp_path: Path) -> None:
    file = tmp_path / "m.lua"
    write(file, 1)

    async def main() -> None:
        async with started(file) as models:
            answers: list[int] = []
            going = True

            async def client() -> None:
                while going:
                    answers.append(await answer(models))

            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                for _ in range(4):
                    group.create_task(client())
                for number in (1, 2, 3):
                    write(file, number)
                    await models.refresh()
                    while answers.count(number) < 100:
                        await asyncio.sleep(0.01)
                going = False
            assert set(answers) == {1, 2, 3}

    asyncio.run(main())


@pytest.mark.long
def test_a_file_that_cannot_be_loaded_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "m.lua"
    write(file, 1)

    async def main() -> None:
        async with started(file) as models:
            file.write_text("function run(x) return x +")  # half of it, in place
            await models.refresh()
            assert await answer(models) == 1
            (row,) = models.index()
            assert row["state"] == "READY"
            assert "unexpected" in row["reason"] or "near" in row["reason"]
            with pytest.raises(Refused) as refused:
                await models.load("m")
            assert refused.value.reason is Reason.FAILED
            file.unlink()
            await models.refresh()
            assert await answer(models) == 1
            write(file, 2)
            await models.refresh()
            assert await answer(models) == 2
            assert models.index() == [{"name": "m", "version": "1", "state": "READY", "reason": ""}]

    asyncio.run(main())


@pytest.mark.parametrize("then", ["damaged", "removed"])
def test_a_process_that_ends_is_replaced_by_one_with_the_old_file(tmp_path: Path, then: str) -> None:
    file = tmp_path / "m.lua"
    (tmp_path / "beside.lua").write_text("return 5")
    fresh = tmp_path / "fresh"
    fresh.write_text(
        "require('ffi').cdef 'int raise(int);'\n"
        "local n = dofile(require('paths').dirname(paths.thisfile()) .. '/beside.lua')\n"
        "function run(x) if x < 0 then require('ffi').C.raise(9) end return x + n end"
    )
    fresh.replace(file)

    async def main() -> None:
        async with started(file) as models:
            assert await answer(models) == 5
            if then == "damaged":
                fresh.write_text("function run(")
                fresh.replace(file)
            else:
                file.unlink()
            await models.refresh()
            for _ in range(2):
                with pytest.raises(Refused) as error:
                    await models.find("m").submit("run", [-1])
                assert error.value.reason is Reason.LOST
                assert await answer(models) == 5
            assert [row["state"] for row in models.index()] == ["READY"]

    asyncio.run(main())


def test_versions_come_and_go_with_their_directories(tmp_path: Path) -> None:
    root = tmp_path / "m"
    root.mkdir()
    write(root / "1" / "a.lua", 1)

    async def main() -> None:
        async with started(root) as models:
            write(root / "10" / "a.lua", 10)
            (root / "11").mkdir()
            (root / "11" / "a.lua").write_text("no Lua")
            await models.refresh()
            assert [await answer(models, version) for version in (None, "1", "10")] == [10, 1, 10]
            assert [row["state"] for row in models.index()] == ["READY", "READY", "UNAVAILABLE"]
            for number in ("10", "11"):
                (root / number / "a.lua").unlink()
                (root / number).rmdir()
            await models.refresh()
            assert await answer(models) == 1
            assert models.versions("m") == ["1"]
            assert len(models.index()) == 1  # nothing is told of what is gone
            with pytest.raises(Refused, match="no version 10"):
                models.find("m", "10")

    asyncio.run(main())


@pytest.mark.long
def test_a_model_is_unloaded_and_loaded(tmp_path: Path) -> None:
    write(tmp_path / "m.lua", 1)

    async def main() -> None:
        async with started(tmp_path / "m.lua") as models:
            await models.unload("m")
            await models.refresh()
            assert models.index() == [
                {"name": "m", "version": "", "state": "UNAVAILABLE", "reason": "unloaded"}
            ]
            with pytest.raises(Refused):
                models.find("m")
            await models.load("m")
            assert await answer(models) == 1

    asyncio.run(main())


def test_the_end_reaches_a_model_that_is_being_loaded(tmp_path: Path) -> None:
    write(tmp_path / "m.lua", 1)

    async def main() -> None:
        async with started(tmp_path / "m.lua") as models:
            loading = asyncio.create_task(models.load("m"))
            await asyncio.sleep(0.05)
            models.end()
            with pytest.raises(Refused):
                await asyncio.wait_for(loading, 30)

    asyncio.run(main())


def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.lua").write_text("no Lua")

    async def main() -> None:
        with pytest.raises(ValueError, match="m cannot be served: "):
            async with started(tmp_path / "m.lua"):
                raise AssertionError("it was loaded")

    asyncio.run(main())
