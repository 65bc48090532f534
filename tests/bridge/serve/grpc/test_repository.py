"""What the server tells of itself and its models, and how they are loaded and unloaded."""

from __future__ import annotations

import contextlib
from pathlib import Path

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
from tritonclient.grpc import model_config_pb2, service_pb2
from tritonclient.utils import InferenceServerException

import moontide
from bridge.serve.grpc.messages import MESSAGES
from tests.bridge.serve.grpc.answering import PATIENCE, Answering, answering
from tests.bridge.serve.grpc.conftest import given, save_scale


def states(client: triton.InferenceServerClient, *, ready: bool = False) -> list[tuple[str, str, str]]:
    request = service_pb2.RepositoryIndexRequest(ready=ready)
    rows = client._client_stub.RepositoryIndex(request, timeout=PATIENCE).models
    return [(one.version, one.state, one.reason) for one in rows]


def computed(client: triton.InferenceServerClient, version: str = "") -> float:
    x = np.ones((1, 2), "f4")
    return float(client.infer("scale", [given("input", x)], model_version=version).as_numpy("output")[0, 0])


def test_the_server_tells_what_it_is(client: triton.InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    told = client.get_server_metadata()
    assert (told.name, told.version) == ("moontide", moontide.__version__)
    assert "statistics" in told.extensions


def test_a_model_tells_its_tensors(client: triton.InferenceServerClient) -> None:
    told = client.get_model_metadata("types")
    assert (told.name, told.platform, list(told.versions)) == ("types", "moontide_onnx", ["1"])
    found = {one.name: (one.datatype, list(one.shape)) for one in told.inputs}
    assert found["float16"] == ("FP16", [-1, -1])
    assert found["bool"] == ("BOOL", [-1, -1])
    assert found["uint64"] == ("UINT64", [-1, -1])
    assert [one.name for one in told.outputs] == [f"{name}_out" for name in found]


def test_a_model_that_there_is_not_is_not_ready(client: triton.InferenceServerClient) -> None:
    assert client.is_model_ready("scale")
    assert client.is_model_ready("scale", "1")
    assert not client.is_model_ready("scale", "3")
    assert not client.is_model_ready("none")


def test_versions_are_served_side_by_side(client: triton.InferenceServerClient) -> None:
    assert [computed(client, version) for version in ("1", "2", "")] == [2, 3, 3]
    assert list(client.get_model_metadata("scale", "1").versions) == ["1", "2"]
    rows = client.get_model_repository_index().models
    assert [(one.version, one.state) for one in rows if one.name == "scale"] == [
        ("1", "READY"),
        ("2", "READY"),
    ]


@pytest.mark.long
def test_a_model_is_loaded_again_or_stays_and_is_gone_when_unloaded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scale.t7"
    save_scale(file, 2)
    with (
        answering(file) as running,
        contextlib.closing(triton.InferenceServerClient(running.address)) as client,
    ):
        whole = file.read_bytes()
        file.write_bytes(whole[:50])
        with pytest.raises(InferenceServerException, match=r"scale\.t7") as raised:
            client.load_model("scale")
        assert raised.value.status() == "StatusCode.UNKNOWN"
        assert computed(client) == 2
        ((version, state, why),) = states(client)
        assert (version, state) == ("1", "READY")
        assert "scale.t7" in why

        client.unload_model("scale")
        assert states(client) == [("", "UNAVAILABLE", "unloaded")]
        assert states(client, ready=True) == []
        assert not client.is_model_ready("scale")
        with pytest.raises(InferenceServerException, match="no versions that is served") as raised:
            computed(client)
        assert raised.value.status() == "StatusCode.NOT_FOUND"

        save_scale(file, 5)
        client.load_model("scale")
        assert computed(client) == 5
        assert states(client, ready=True) == [("1", "READY", "")]
    # Processes were started beside a server and a client, and gRPC's core has nothing to say of it.
    assert capfd.readouterr().err == ""


def test_what_is_not_offered_is_unimplemented(client: triton.InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match="no parameter 'config' is taken") as raised:
        client.load_model("scale", config="{}")
    assert raised.value.status() == "StatusCode.UNIMPLEMENTED"
    for work in (client.load_model, client.unload_model):
        with pytest.raises(InferenceServerException, match="there is no model 'none'") as raised:
            work("none")
        assert raised.value.status() == "StatusCode.NOT_FOUND"


def test_statistics_count_what_was_asked(client: triton.InferenceServerClient) -> None:
    def told() -> tuple[int, int, int, int]:
        (row,) = client.get_inference_statistics("scale", "2").model_stats
        stats = row.inference_stats
        return row.inference_count, row.execution_count, stats.success.count, stats.success.ns

    rows, calls, count, spent = told()
    client.infer("scale", [given("input", np.ones((3, 2), "f4"))])
    after = told()
    assert after[:3] == (rows + 3, calls + 1, count + 1)
    assert after[3] > spent
    assert {one.name for one in client.get_inference_statistics().model_stats} == {
        *("program", "scale", "types"),
    }
    with pytest.raises(InferenceServerException, match="there is no model 'none'"):
        client.get_inference_statistics("none")


def test_health_is_what_grpc_s_own_protocol_asks(channel: grpc.Channel, server: Answering) -> None:
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        MESSAGES["HealthCheckRequest"].SerializeToString,
        MESSAGES["HealthCheckResponse"].FromString,
    )

    def status(service: str = "") -> int:
        return int(check(MESSAGES["HealthCheckRequest"](service=service), timeout=PATIENCE).status)

    assert [status(), status("inference.GRPCInferenceService")] == [1, 1]
    with pytest.raises(grpc.RpcError, match="there is no service 'other'") as raised:
        status("other")
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
    server.service.leaving = True
    try:
        assert [status(), status("inference.GRPCInferenceService"), status("grpc.health.v1.Health")] == [
            2,
            2,
            1,
        ]
    finally:
        server.service.leaving = False


@pytest.mark.slow
def test_the_configuration_is_triton_s(client: triton.InferenceServerClient) -> None:
    told = client.get_model_config("types").config
    assert (told.name, told.platform, told.default_model_filename) == ("types", "moontide_onnx", "types.onnx")
    assert told.max_batch_size == 32
    kinds = {one.name: one.data_type for one in told.input}
    assert (kinds["float16"], kinds["bool"]) == (model_config_pb2.TYPE_FP16, model_config_pb2.TYPE_BOOL)
    assert {tuple(one.dims) for one in told.output} == {(-1,)}  # of a row
    assert list(client.get_model_config("scale", "1").config.input[0].dims) == [2]
    assert client.get_model_config("scale").config.instance_group[0].kind == 2  # a CPU
    with pytest.raises(InferenceServerException, match="has no version 9") as raised:
        client.get_model_config("scale", "9")
    assert raised.value.status() == "StatusCode.NOT_FOUND"
