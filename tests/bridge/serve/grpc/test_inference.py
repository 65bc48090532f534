"""Triton's own client, which blocks or is asynchronous, gets outputs, and reasons for what it does not get."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

from tests.bridge.serve.grpc.answering import PATIENCE, Answering, until
from tests.bridge.serve.grpc.conftest import LIMIT, NUMBERS, given

Infer = Callable[..., triton.InferResult]
INFER = "/inference.GRPCInferenceService/ModelInfer"


@pytest.fixture(params=["blocking", "asynchronous"])
def infer(request: pytest.FixtureRequest, server: Answering) -> Iterator[Infer]:
    """Both clients' `infer`."""
    if request.param == "blocking":
        with contextlib.closing(triton.InferenceServerClient(server.address)) as client:
            yield client.infer
        return

    async def called(*arguments: Any, **options: Any) -> Any:
        async with triton_aio.InferenceServerClient(server.address) as client:
            return await client.infer(*arguments, **options)

    yield lambda *arguments, **options: asyncio.run(called(*arguments, **options))


@contextlib.contextmanager
def refused(code: str, pattern: str) -> Iterator[None]:
    with pytest.raises(InferenceServerException, match=pattern) as raised:
        yield
    assert raised.value.status() == f"StatusCode.{code}"


def said(what: str, *rest: triton.InferInput) -> list[triton.InferInput]:
    return [given("what", np.array([what], object)), *rest]


@pytest.mark.slow
def test_a_network_computes(infer: Infer) -> None:
    x = np.arange(6, dtype="f4").reshape(3, 2)
    result = infer("scale", [given("input", x)], request_id="a 7")
    assert np.array_equal(result.as_numpy("output"), 3 * x)
    told = result.get_response()
    assert (told.id, told.model_name, told.model_version) == ("a 7", "scale", "2")


@pytest.mark.slow
def test_every_type_goes_there_and_back_raw(infer: Infer) -> None:
    values = {
        kind: np.array([[0, 1]], kind)
        if kind == "bool"
        else np.array([[np.iinfo(kind).min, np.iinfo(kind).max]], kind)
        if "int" in kind
        else np.array([[-0.5, np.inf]], kind)
        for kind in NUMBERS
    }
    result = infer("types", [given(kind, value) for kind, value in values.items()])
    for kind, value in values.items():
        found = result.as_numpy(f"{kind}_out")
        assert found.dtype == value.dtype
        assert np.array_equal(found, value)


def test_texts_go_there_and_back(infer: Infer) -> None:
    texts = np.array(["", "\u00e4\u20ac", b"\xff\x00"], object)
    found = infer("program", said("echo", given("x", texts))).as_numpy("output")
    assert found.tolist() == [b"", "\u00e4\u20ac".encode(), b"\xff\x00"]


@pytest.mark.slow
def test_a_long_text_among_short_ones_comes_back(infer: Infer) -> None:
    assert infer("program", said("long")).as_numpy("output").tolist() == [b"a" * 100_000, b"b", b"\xff"]


def test_outputs_that_are_asked_for_come_in_their_order(infer: Infer) -> None:
    x, y = np.ones(2, "f4"), np.zeros(3, "i4")
    asked = [triton.InferRequestedOutput("second"), triton.InferRequestedOutput("first")]
    result = infer("program", said("two", given("x", x), given("y", y)), outputs=asked)
    assert [one.name for one in result.get_response().outputs] == ["second", "first"]
    assert result.as_numpy("second").tolist() == [0, 0, 0]
    assert result.as_numpy("first").tolist() == [1, 1]
    only = infer("program", said("two", given("x", x), given("y", y)), outputs=asked[:1])
    assert [one.name for one in only.get_response().outputs] == ["second"]


def test_parameters_and_compression_are_taken(infer: Infer) -> None:
    x = np.ones((1, 2), "f4")
    options = {"priority": 3, "timeout": 10_000_000, "sequence_id": 5, "parameters": {"own": "text"}}
    for compression in (None, "gzip", "deflate"):
        result = infer("scale", [given("input", x)], compression_algorithm=compression, **options)
        assert result.as_numpy("output").tolist() == [[3, 3]]


@pytest.mark.slow
def test_a_request_may_have_less_patience_than_the_server(infer: Infer) -> None:
    nap = said("nap", given("x", np.array([0.5])))
    with refused("DEADLINE_EXCEEDED", "no answer within 0.1 s"):
        infer("program", nap, timeout=100_000)
    assert infer("program", nap, timeout=0).as_numpy("output").tolist() == [0.5]


def test_typed_contents_come_back_typed_where_that_is_asked_for(channel: grpc.Channel) -> None:
    request = service_pb2.ModelInferRequest(model_name="program")
    request.inputs.add(name="what", datatype="BYTES", shape=[1]).contents.bytes_contents.append(b"echo")
    request.inputs.add(name="x", datatype="INT32", shape=[2]).contents.int_contents.extend([-1, 7])
    infer = channel.unary_unary(
        INFER,
        service_pb2.ModelInferRequest.SerializeToString,
        service_pb2.ModelInferResponse.FromString,
    )
    raw = infer(request, timeout=PATIENCE)
    assert np.frombuffer(raw.raw_output_contents[0], "<i4").tolist() == [-1, 7]
    assert not raw.outputs[0].HasField("contents")
    request.parameters["binary_data_output"].bool_param = False
    typed = infer(request, timeout=PATIENCE)
    assert list(typed.outputs[0].contents.int_contents) == [-1, 7]
    assert not typed.raw_output_contents


@pytest.mark.slow
def test_what_the_model_does_not_take_is_refused(infer: Infer) -> None:
    x = np.ones((1, 2), "f4")
    with refused("INVALID_ARGUMENT", "has input 'other', but scale takes input"):
        infer("scale", [given("other", x)])
    with refused("INVALID_ARGUMENT", "lacks input 'input'"):
        infer("scale", [])
    with refused("INVALID_ARGUMENT", "'input' has the shape .1, 3., .-1, 2. was expected"):
        infer("scale", [given("input", np.ones((1, 3), "f4"))])
    with refused("INVALID_ARGUMENT", "'bool' has float32, bool was expected"):
        infer("types", [given(kind, np.ones((1, 1), "f4" if kind == "bool" else kind)) for kind in NUMBERS])
    with refused("INVALID_ARGUMENT", "'input' has texts, float32 was expected"):
        infer("scale", [given("input", np.array([["a", "b"]], object))])
    with refused("INVALID_ARGUMENT", "there is no output 'more'; there is output"):
        infer("scale", [given("input", x)], outputs=[triton.InferRequestedOutput("more")])


@pytest.mark.slow
def test_contents_that_are_cut_are_refused(infer: Infer) -> None:
    cut = triton.InferInput("input", [1, 2], "FP32")
    cut._raw_content = bytes(7)
    with refused("INVALID_ARGUMENT", r"'input' has 7 bytes, FP32 of shape \[1, 2\] has 8"):
        infer("scale", [cut])


@pytest.mark.slow
def test_models_and_versions_that_there_are_not_are_not_found(infer: Infer) -> None:
    with refused("NOT_FOUND", "there is no model 'none'; there is program, types, scale"):
        infer("none", [])
    with refused("NOT_FOUND", "model 'scale' has no version 3 that is served; there is 1, 2"):
        infer("scale", [], model_version="3")


@pytest.mark.slow
def test_what_triton_has_and_this_server_does_not_is_unimplemented(
    infer: Infer, client: triton.InferenceServerClient
) -> None:
    shared = triton.InferInput("input", [1, 2], "FP32")
    shared.set_shared_memory("region", 8)
    with refused("UNIMPLEMENTED", "shared memory are not offered"):
        infer("scale", [shared])
    scores = triton.InferRequestedOutput("output", class_count=2)
    with refused("UNIMPLEMENTED", "classification are not offered: take the scores"):
        infer("scale", [given("input", np.ones((1, 2), "f4"))], outputs=[scores])
    with refused("UNIMPLEMENTED", "Method not found"):
        client.get_trace_settings("scale")


@pytest.mark.slow
def test_an_error_of_the_model_is_told_and_costs_nothing(infer: Infer, server: Answering) -> None:
    before = server.look(server.pids)
    with refused("UNKNOWN", "no such luck"):
        infer("program", said("error"))
    assert server.look(server.pids) == before


@pytest.mark.slow
def test_an_error_s_text_has_a_limit(infer: Infer) -> None:
    """It travels in a header, of which clients take 8 KiB; letters beyond ASCII take the most room there."""
    text = np.array(["\u20ac" * 100_000], object)
    with refused("UNKNOWN", "\u20ac{100}"):
        infer("program", said("error", given("x", text)))
    with refused("NOT_FOUND", "there is no model '\u20ac{100}"):
        infer("\u20ac" * 100_000, [])


@pytest.mark.slow
def test_a_message_above_the_limit_is_refused_before_it_is_read(infer: Infer) -> None:
    with refused("RESOURCE_EXHAUSTED", f"larger than max .* {LIMIT}"):
        infer("program", said("echo", given("x", np.zeros(LIMIT, "u1"))))
    with refused("RESOURCE_EXHAUSTED", "larger than max"):
        infer("program", said("echo", given("x", np.zeros(8 * LIMIT, "u1"))), compression_algorithm="gzip")


@pytest.mark.slow
def test_an_answer_may_be_longer_than_a_request_may_be(infer: Infer) -> None:
    result = infer("program", said("zeros", given("x", np.array([LIMIT]))))
    assert result.as_numpy("output").nbytes == 8 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancelled", "late"])
def test_a_request_that_nobody_waits_for_never_reaches_a_process(server: Answering, how: str) -> None:
    served = server.service.repository.find("program")
    before = served.statistics.batches
    limit = 0.2 if how == "late" else None

    async def main() -> None:
        async with triton_aio.InferenceServerClient(server.address) as client:
            first = asyncio.create_task(client.infer("program", said("nap", given("x", np.array([0.6])))))
            await until(lambda: served.statistics.batches > before)
            echo = said("echo", given("x", np.ones(1)))
            calls = [
                asyncio.create_task(client.infer("program", echo, client_timeout=limit)) for _ in range(5)
            ]
            if how == "cancelled":
                await until(lambda: served.waiting == 5)
                for call in calls:
                    call.cancel()
            found = await asyncio.gather(*calls, return_exceptions=True)
            kind = asyncio.CancelledError if how == "cancelled" else InferenceServerException
            assert [type(one) for one in found] == [kind] * 5
            await first
            await client.infer("program", echo)

    asyncio.run(main())
    assert served.waiting == 0
    assert served.statistics.batches == before + 2
