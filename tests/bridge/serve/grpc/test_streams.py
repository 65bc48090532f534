"""A stream of requests is answered in order; one that is refused does not end it."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio

from tests.bridge.serve.grpc.answering import PATIENCE, Answering, until
from tests.bridge.serve.grpc.conftest import given


def rows(number: float) -> list[triton.InferInput]:
    return [given("input", np.full((1, 2), number, "f4"))]


@pytest.mark.slow
def test_answers_come_in_the_order_of_the_requests(client: triton.InferenceServerClient) -> None:
    answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for number in range(200):
        client.async_stream_infer(
            "scale", rows(number), request_id=str(number), enable_empty_final_response=number % 2 == 0
        )
    found = [answers.get(timeout=PATIENCE) for _ in range(200)]
    client.stop_stream()
    assert [error for _, error in found if error] == []
    assert [result.get_response().id for result, _ in found] == [str(number) for number in range(200)]
    final = [result.get_response().parameters["triton_final_response"].bool_param for result, _ in found]
    assert final == [number % 2 == 0 for number in range(200)]
    assert [result.as_numpy("output")[0, 0] for result, _ in found] == [3 * number for number in range(200)]


def test_a_refusal_leaves_the_stream_open(server: Answering) -> None:
    async def requests() -> AsyncIterator[dict[str, Any]]:
        yield {"model_name": "scale", "inputs": rows(1), "request_id": "first"}
        yield {"model_name": "none", "inputs": rows(1), "request_id": "second"}
        yield {"model_name": "scale", "inputs": rows(2), "request_id": "third"}

    async def main() -> list[Any]:
        async with triton_aio.InferenceServerClient(server.address) as client:
            return [answer async for answer in client.stream_infer(requests())]

    (first, no), (_, second), (third, _) = asyncio.run(main())
    assert no is None
    assert first.get_response().id == "first"
    assert "there is no model 'none'" in str(second)
    assert third.get_response().id == "third"


@pytest.mark.slow
def test_a_stream_that_ends_early_takes_its_requests_with_it(server: Answering) -> None:
    served = server.service.repository.find("program")
    before = served.statistics.batches
    inputs = [given("what", np.array(["nap"], object)), given("x", np.array([0.5]))]

    async def requests() -> AsyncIterator[dict[str, Any]]:
        for _ in range(20):
            yield {"model_name": "program", "inputs": inputs}
        await asyncio.sleep(PATIENCE)

    async def main() -> None:
        async with triton_aio.InferenceServerClient(server.address) as client:
            answers = client.stream_infer(requests())
            task = asyncio.ensure_future(anext(answers))
            await until(lambda: served.waiting == 19)
            answers.cancel()
            await asyncio.wait([task], timeout=PATIENCE)
            assert task.cancelled()
            await until(lambda: served.waiting == 0)
            echo = [given("what", np.array(["echo"], object)), given("x", np.ones(1))]
            await client.infer("program", echo)

    asyncio.run(main())
    assert served.statistics.batches == before + 2
