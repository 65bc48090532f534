"""Refusals become status codes with a text that fits into a header."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import grpc
import numpy as np
import pytest
import tritonclient.grpc.aio as triton_aio
from tritonclient.utils import InferenceServerException

from bridge.serve.engine import ModelSettings, Reason, Refused
from bridge.serve.grpc.handlers import CODES, LONGEST, refusal, shortened
from tests.bridge.serve.grpc.answering import Answering, answering
from tests.bridge.serve.grpc.conftest import given

PROGRAM = """
require 'torch'
local ffi = require 'ffi'
ffi.cdef 'int raise(int);'
return {run = function(what)
   if what[1] == 'loop' then while true do end end
   ffi.C.raise(9)
end}
"""


def test_each_reason_has_a_status_code() -> None:
    assert set(CODES) == set(Reason)
    assert grpc.StatusCode.OK not in CODES.values()


@pytest.mark.parametrize("letter", ["a", "\u00e4", "\u20ac", "\U0001f600", "\ud800"], ids=ascii)
def test_a_text_is_cut_between_letters(letter: str) -> None:
    assert shortened("short") == "short"
    found = shortened(letter * 10_000)
    assert len(found.encode()) <= LONGEST + 4
    assert set(found.removesuffix(" ...")) == {"?" if letter == "\ud800" else letter}


def test_what_nobody_foresaw_is_a_defect_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert refusal("M", Refused(Reason.BUSY, "later")).reason is Reason.BUSY
    assert not caplog.records
    found = refusal("M", KeyError("x"))
    assert (found.reason, str(found)) == (Reason.INTERNAL, "a defect of the service: KeyError: 'x'")
    assert [one.levelno for one in caplog.records] == [logging.ERROR]


@pytest.mark.slow
def test_a_process_that_is_busy_late_or_lost_has_a_code_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "program.lua"
    file.write_text(PROGRAM)

    async def codes(running: Answering) -> list[str]:
        async with triton_aio.InferenceServerClient(running.address) as client:

            async def code(what: str) -> str:
                with pytest.raises(InferenceServerException) as raised:
                    await client.infer("program", [given("what", np.array([what], object))])
                return str(raised.value.status()).removeprefix("StatusCode.")

            lost = await code("end")
            # Two wait for the next process, or for the one that loops, and are late with it: the queue is full.
            return [lost, *await asyncio.gather(*(code("loop") for _ in range(4)))]

    with answering(file, settings=ModelSettings(timeout=0.5, queue=2)) as running:
        lost, *others = asyncio.run(codes(running))
    assert lost == "UNAVAILABLE"
    assert set(others) == {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}
    caplog.clear()  # its records have errors, whose frames have the server
