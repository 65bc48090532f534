"""Every kind of model file is served, and all of one network give the same answers."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from moontide.cli import main
from tests.bridge.serve.serving import Running, save_digits, serving, tensor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kinds")
    save_digits(place / "net.t7")
    for ending in ("pt", "pt2", "onnx"):
        assert main(["convert", str(place / "net.t7"), str(place / f"net.{ending}"), "--input", "?x64"]) == 0
    return place


def answered(server: Running, name: str) -> Any:
    x = np.linspace(-1, 1, 192, dtype=np.float32)
    specs = server.get(f"/v2/models/{name}").json["inputs"]
    assert [(one["datatype"], one["shape"]) for one in specs] == [("FP32", [-1, 64])]
    body = {"inputs": [tensor(specs[0]["name"], "FP32", [3, 64], x.tolist())]}
    answer = server.post(f"/v2/models/{name}/infer", body)
    assert answer.status == 200, answer.body
    (output,) = answer.json["outputs"]
    assert output["shape"] == [3, 10]
    return np.array(output["data"])


@pytest.mark.long
def test_one_network_in_every_kind_of_file(kinds: Path, tmp_path: Path) -> None:
    with serving(tmp_path, kinds / "net.t7") as server:
        expected = answered(server, "net")
    for ending, options in (("pt2", []), ("onnx", []), ("pt", ["--network", kinds / "net.t7"])):
        with serving(tmp_path, kinds / f"net.{ending}", *options) as server:
            assert np.allclose(answered(server, "net"), expected, atol=1e-5), ending
            platform = server.get("/v2/models/net").json["platform"]
            assert platform == f"moontide_{'onnx' if ending == 'onnx' else 'torch'}"


@pytest.mark.long
@pytest.mark.parametrize("ending", ["t7", "pt2", "onnx", "pt"])
def test_a_process_that_ends_has_the_old_model_though_its_file_is_damaged(
    kinds: Path, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"net.{ending}"
    shutil.copy(kinds / file.name, file)
    options = ["--network", kinds / "net.t7"] if ending == "pt" else []
    with serving(tmp_path, file, *options, "--watch", "0.1") as server:
        expected = answered(server, "net")
        (tmp_path / "fresh").write_bytes(b"damaged")
        (tmp_path / "fresh").replace(file)
        until = time.monotonic() + 60
        while not server.post("/v2/repository/index").json[0]["reason"]:
            assert time.monotonic() < until
            time.sleep(0.05)
        (old,) = server.workers()
        os.kill(old, signal.SIGKILL)
        while not server.workers() - {old}:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert np.array_equal(answered(server, "net"), expected)
        assert old not in server.workers()


@pytest.mark.long
def test_a_network_inside_tables_is_named_by_its_key(kinds: Path, tmp_path: Path) -> None:
    with bridge.Lua() as lua:
        lua.execute(
            "require 'nn' local from, to = ... "
            "torch.save(to, {step = 7, protos = {net = torch.load(from), other = torch.load(from):clone()}})",
            str(kinds / "net.t7"),
            str(tmp_path / "checkpoint.t7"),
        )
    with serving(tmp_path, kinds / "net.t7") as server:
        expected = answered(server, "net")
    options = ["--key", "protos.net", "--name", "digits", "--batch", "8", "--batch-wait-ms", "0.5"]
    with serving(tmp_path, tmp_path / "checkpoint.t7", *options, "--workers", "2") as server:
        assert np.array_equal(answered(server, "digits"), expected)
        assert len(server.workers()) == 2
        told = server.get("/v2/models/digits/config").json
    assert (told["max_batch_size"], told["instance_group"][0]["count"]) == (8, 2)
    assert told["dynamic_batching"] == {"max_queue_delay_microseconds": 500}


@pytest.mark.long
def test_a_network_on_a_device(kinds: Path, tmp_path: Path) -> None:
    """The GPU's code, with torch's CPU as the device."""
    with serving(tmp_path, kinds / "net.t7") as server:
        expected = answered(server, "net")
    cuda = {"MOONTIDE_CUDA": "aten"}
    with serving(tmp_path, kinds / "net.t7", "--device", "cuda", environment=cuda) as server:
        assert np.allclose(answered(server, "net"), expected, atol=1e-5)
