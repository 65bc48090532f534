"""Inference by the Open Inference Protocol, asked by other programs' clients too."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http
from tritonclient.utils import InferenceServerException

import bridge
from tests.bridge.serve.serving import Running, serving, tensor


@pytest.fixture(scope="module")
def expected(models: Path) -> Any:
    """What the network gives in this process."""
    with bridge.Lua() as lua:
        lua.require("nn")
        net = lua.execute("return torch.load(...)", str(models / "digits.t7"))
        net.evaluate()
        yield lambda x: net.forward(x, copy=True)


def row(seed: int, rows: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).random((rows, 64), np.float32)


def infer(server: Running, x: np.ndarray[Any, Any], **more: Any) -> Any:
    body = {"inputs": [tensor("input", "FP32", list(x.shape), x.ravel().tolist())], **more}
    return server.post("/v2/models/digits/infer", body)


def test_what_the_server_tells_of_itself(server: Running) -> None:
    told = server.get("/v2").json
    assert told["name"] == "moontide"
    assert "binary_tensor_data" in told["extensions"]
    assert server.get("/v2/health/live").json == {"live": True}
    assert server.get("/v2/health/ready").json == {"ready": True}
    assert server.get("/v2/models").json == {"models": ["digits", "functions"]}
    for path in ("/v2/models/digits", "/v2/models/digits/versions/1"):
        assert server.get(path).json == {
            "name": "digits",
            "versions": ["1"],
            "platform": "moontide_torch7",
            "inputs": [{"name": "input", "datatype": "FP32", "shape": [-1, 64]}],
            "outputs": [],
        }
    assert server.get("/v2/models/digits/ready").json == {"name": "digits", "ready": True}


def test_an_answer_is_what_the_network_gives(server: Running, expected: Any) -> None:
    x = row(1, 3)
    answer = infer(server, x, id="q7")
    told = answer.json
    assert (answer.status, told["id"], told["model_name"], told["model_version"]) == (
        200,
        "q7",
        "digits",
        "1",
    )
    (output,) = told["outputs"]
    assert (output["name"], output["datatype"], output["shape"]) == ("output", "FP32", [3, 10])
    assert np.allclose(np.reshape(output["data"], (3, 10)), expected(x), atol=1e-6)


def test_curl(server: Running, expected: Any) -> None:
    x = row(2)
    body = {"inputs": [tensor("input", "FP32", [1, 64], x.ravel().tolist())]}
    done = subprocess.run(
        [
            shutil.which("curl") or "curl",
            "-sS",
            "-d",
            json.dumps(body),
            f"{server.url}/v2/models/digits/infer",
        ],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert np.allclose(json.loads(done.stdout)["outputs"][0]["data"], expected(x)[0], atol=1e-6)


@pytest.mark.parametrize("sent", [False, True], ids=["text", "bytes"])
@pytest.mark.parametrize("wanted", [False, True], ids=["text", "bytes"])
def test_tritonclient(server: Running, expected: Any, sent: bool, wanted: bool) -> None:
    x = row(3, 5)
    with tritonclient.http.InferenceServerClient(":".join(map(str, server.address))) as client:
        assert client.is_server_ready()
        assert client.is_model_ready("digits", "1")
        given = tritonclient.http.InferInput("input", list(x.shape), "FP32")
        given.set_data_from_numpy(x, binary_data=sent)
        asked = tritonclient.http.InferRequestedOutput("output", binary_data=wanted)
        result = client.infer("digits", [given], outputs=[asked], request_id="r1")
        assert np.allclose(result.as_numpy("output"), expected(x), atol=1e-6)
        assert result.get_response()["id"] == "r1"
        names = {(one["name"], one["state"]) for one in client.get_model_repository_index()}
        assert names == {("digits", "READY"), ("functions", "READY")}
        counted = client.get_inference_statistics("digits")["model_stats"][0]
        assert counted["inference_stats"]["success"]["count"] >= 1


@pytest.mark.long
def test_a_request_may_have_less_patience_than_the_server(tmp_path: Path) -> None:
    (tmp_path / "slow.lua").write_text(
        "function slow(s) local t = os.clock() while os.clock() - t < s[1] do end return s end"
    )
    with serving(tmp_path, tmp_path / "slow.lua") as server:
        given = tritonclient.http.InferInput("s", [1], "FP64")
        given.set_data_from_numpy(np.array([0.5]))
        with tritonclient.http.InferenceServerClient(":".join(map(str, server.address))) as client:
            with pytest.raises(InferenceServerException, match="no answer within"):
                client.infer("slow", [given], timeout=100_000)
            for microseconds in (0, 30_000_000, 10**18):
                result = client.infer("slow", [given], timeout=microseconds)
                assert result.as_numpy("output").tolist() == [0.5]


@pytest.mark.parametrize("timeout", [-1, 0.5, True, "1", [1]])
def test_a_patience_that_is_none_is_told(server: Running, timeout: Any) -> None:
    answer = infer(server, row(1), parameters={"timeout": timeout})
    assert answer.status == 400
    assert "expected microseconds" in answer.json["error"]


@pytest.mark.slow
def test_many_clients_each_get_their_own(server: Running, expected: Any) -> None:
    wrong: list[int] = []

    def work(k: int) -> None:
        connection = server.connection()
        for n in range(40):
            x = row(1000 * k + n, 1 + (k + n) % 3)
            body = {"inputs": [tensor("input", "FP32", list(x.shape), x.ravel().tolist())]}
            connection.request("POST", "/v2/models/digits/infer", json.dumps(body))
            told = json.loads(connection.getresponse().read())
            answers[k, n] = (x, np.reshape(told["outputs"][0]["data"], (-1, 10)))
        connection.close()

    answers: dict[tuple[int, int], Any] = {}
    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    wrong = [k for k, (x, y) in answers.items() if not np.allclose(y, expected(x), atol=1e-6)]
    assert (len(answers), wrong) == (640, [])
    stats = server.get("/v2/models/digits/stats").json["model_stats"][0]
    assert stats["execution_count"] < stats["inference_stats"]["success"]["count"]  # some went together


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({"shape": [1, 63], "data": [0.5] * 63}, 400, "shape [1, 63], [-1, 64] was expected"),
        ({"shape": [64], "data": [0.5] * 64}, 400, "shape [64], [-1, 64] was expected"),
        ({"name": "pixels"}, 400, "has input 'pixels', but digits takes input"),
        ({"datatype": "BYTES", "data": ["a"] * 64}, 400, "has texts, float32 was expected"),
        ({"datatype": "FP32", "data": ["a"] * 64}, 400, "not all FP32"),
    ],
)
def test_what_the_model_does_not_take_is_told(
    server: Running, change: dict[str, Any], status: int, told: str
) -> None:
    body = {"inputs": [{**tensor("input", "FP32", [1, 64], [0.5] * 64), **change}]}
    answer = server.post("/v2/models/digits/infer", body)
    assert answer.status == status
    assert told in answer.json["error"]


def test_whole_numbers_are_taken_for_the_model_s_type(server: Running, expected: Any) -> None:
    body = {"inputs": [tensor("input", "UINT8", [1, 64], [1] * 64)]}
    answer = server.post("/v2/models/digits/infer", body)
    assert np.allclose(
        answer.json["outputs"][0]["data"], expected(np.ones((1, 64), np.float32))[0], atol=1e-6
    )


def test_nan_goes_through(server: Running) -> None:
    x = np.full((1, 64), np.nan, np.float32)
    head = {"inputs": [{**tensor("input", "FP32", [1, 64], []), "parameters": {"binary_data_size": 256}}]}
    del head["inputs"][0]["data"]
    text = json.dumps(head).encode()
    answer = server.post(
        "/v2/models/digits/infer", text + x.tobytes(), **{"Inference-Header-Content-Length": str(len(text))}
    )
    assert answer.json["outputs"][0]["data"] == [None] * 10


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v2/models/none/infer", "there is no model 'none'; there is digits, functions"),
        ("/v2/models/digits/versions/2/infer", "model 'digits' has no version 2 that is served; there is 1"),
        ("/v2/modells", "POST /v2/modells: Not Found; / and /docs tell what there is"),
    ],
)
def test_unknown_paths_are_told(server: Running, path: str, told: str) -> None:
    answer = server.post(path, {"inputs": []})
    assert (answer.status, answer.json["error"]) == (404, told)


def test_wrong_methods_are_told(server: Running) -> None:
    answer = server.get("/v2/models/digits/infer")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert server.post("/v2/health/live").status == 405
    assert server.ask("HEAD", "/v2/health/live").body == b""


@pytest.mark.slow
def test_versions_are_directories_and_the_latest_is_meant(models: Path, tmp_path: Path) -> None:
    for number in (2, 10):
        (tmp_path / "adder" / str(number)).mkdir(parents=True)
        (tmp_path / "adder" / str(number) / "m.lua").write_text(f"function add(x) return x + {number} end")
    with serving(tmp_path, tmp_path / "adder", "--watch", "0.2") as server:
        body = {"inputs": [tensor("x", "FP64", [2], [1.0, 2.0])]}

        def answered(path: str) -> Any:
            told = server.post(f"/v2/models/adder{path}/infer", body).json
            return told["model_version"], told["outputs"][0]["data"]

        assert answered("") == ("10", [11, 12])
        assert answered("/versions/2") == ("2", [3, 4])
        assert server.get("/v2/models/adder").json["versions"] == ["2", "10"]
        before = server.workers()
        assert server.post("/v2/repository/models/adder/unload").status == 200
        assert server.post("/v2/models/adder/infer", body).status == 404
        index = [{"name": "adder", "version": "", "state": "UNAVAILABLE", "reason": "unloaded"}]
        assert server.post("/v2/repository/index").json == index
        assert server.post("/v2/repository/index", {"ready": True}).json == []
        assert server.get("/v2/health/ready").status == 200  # nothing is missing that is wanted
        assert server.post("/v2/repository/models/adder/load").status == 200
        assert answered("") == ("10", [11, 12])
        assert not before & server.workers()
        (tmp_path / "adder" / "10" / "m.lua").write_text("function add(x) return x + 11 end")
        until = time.monotonic() + 30
        while answered("") != ("10", [12, 13]):
            assert time.monotonic() < until
            time.sleep(0.05)


def test_metrics_have_triton_s_names(server: Running) -> None:
    assert infer(server, row(4)).status == 200
    text = server.get("/metrics").body.decode()
    for name in (
        "request_success",
        "exec_count",
        "queue_duration_us",
        "pending_request_count",
    ):
        assert f'moontide_inference_{name}{{model="digits",version="1"}}' in text


def test_the_configuration_is_triton_s(server: Running) -> None:
    told = server.get("/v2/models/digits/config").json
    assert (told["max_batch_size"], told["input"]) == (
        32,
        [{"name": "input", "data_type": "TYPE_FP32", "dims": [64]}],
    )
    assert server.get("/v2/models/digits/versions/1/config").json == told
    assert server.get("/v2/models/none/config").status == 404
    with contextlib.closing(
        tritonclient.http.InferenceServerClient(":".join(map(str, server.address)))
    ) as client:
        assert client.get_model_config("digits") == told


@pytest.mark.parametrize("form", ["gzip", "deflate"])
def test_tritonclient_compresses(server: Running, form: str) -> None:
    x = np.linspace(0, 1, 64 * 100, dtype=np.float32).reshape(100, 64)
    given = tritonclient.http.InferInput("input", [100, 64], "FP32")
    with contextlib.closing(
        tritonclient.http.InferenceServerClient(":".join(map(str, server.address)))
    ) as client:
        for binary in (True, False):
            given.set_data_from_numpy(x, binary_data=binary)
            plain = client.infer("digits", [given]).as_numpy("output")
            packed = client.infer(
                "digits", [given], request_compression_algorithm=form, response_compression_algorithm=form
            ).as_numpy("output")
            assert np.array_equal(plain, packed)


@pytest.mark.long
def test_what_is_not_read_of_a_load_is_refused(server: Running) -> None:
    path = "/v2/repository/models/digits/load"
    with contextlib.closing(
        tritonclient.http.InferenceServerClient(":".join(map(str, server.address)))
    ) as client:
        with pytest.raises(InferenceServerException, match="no parameter 'config' is taken") as raised:
            client.load_model("digits", config="{}")
        assert raised.value.status() == "415"
    for body in (b"garbage", [1], {"parameters": [1]}):
        assert server.post(path, body).status == 400
    for body in (None, {}, {"parameters": {}}):
        assert server.post(path, body).status == 200
