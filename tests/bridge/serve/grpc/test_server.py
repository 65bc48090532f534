"""Who may ask, by TLS or not, and ports that are taken."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

from bridge.serve.engine import Service
from bridge.serve.grpc import start
from tests.bridge.serve.grpc.answering import PATIENCE, Answering
from tests.bridge.serve.grpc.conftest import LIMIT, given

TOKEN = "a-word-of-its-own"


def certificate(directory: Path) -> dict[str, str]:
    """Make a key and a certificate for it."""
    key, pem = str(directory / "key.pem"), str(directory / "cert.pem")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    of = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*made, "-keyout", key, "-out", pem, *of], check=True, capture_output=True, timeout=PATIENCE
    )
    return {"key": key, "certificate": pem}


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return certificate(tmp_path_factory.mktemp("pem"))


@pytest.fixture(scope="module")
def guarded(server: Answering, pem: dict[str, str]) -> Iterator[str]:
    """The address of a second server of the same models, which asks for a token and speaks TLS."""
    second, port = server.run(start(server.service, port=0, token=TOKEN, body_limit=LIMIT, **pem))
    yield f"127.0.0.1:{port}"
    server.run(second.stop(1.0))


@pytest.fixture
def trusting(guarded: str, pem: dict[str, str]) -> Iterator[triton.InferenceServerClient]:
    """A client that knows the certificate."""
    options = {"ssl": True, "root_certificates": pem["certificate"]}
    with contextlib.closing(triton.InferenceServerClient(guarded, **options)) as client:
        yield client


METHODS: dict[str, Callable[[triton.InferenceServerClient, Any], Any]] = {
    "ModelReady": lambda c, headers: c.is_model_ready("scale", headers=headers),
    "ServerMetadata": lambda c, headers: c.get_server_metadata(headers=headers),
    "ModelMetadata": lambda c, headers: c.get_model_metadata("scale", headers=headers),
    "ModelInfer": lambda c, headers: c.infer(
        "scale", [given("input", np.ones((1, 2), "f4"))], headers=headers
    ),
    "ModelStatistics": lambda c, headers: c.get_inference_statistics(headers=headers),
    "RepositoryIndex": lambda c, headers: c.get_model_repository_index(headers=headers),
    "RepositoryModelUnload": lambda c, headers: c.unload_model("scale", headers=headers),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_asks_for_the_token(trusting: triton.InferenceServerClient, method: str) -> None:
    wrong = [None, "Bearer", "Bearer ", TOKEN, f"Bearer {TOKEN}x", f"bearer {TOKEN}", f"Basic {TOKEN}"]
    for text in wrong:
        headers = None if text is None else {"authorization": text}
        with pytest.raises(InferenceServerException, match="a token is needed") as raised:
            METHODS[method](trusting, headers)
        assert raised.value.status() == "StatusCode.UNAUTHENTICATED"
    if method == "RepositoryModelUnload":
        assert trusting.is_server_ready()
        return
    assert METHODS[method](trusting, {"authorization": f"Bearer {TOKEN}"}) is not False


def test_a_stream_asks_for_the_token(guarded: str, pem: dict[str, str]) -> None:
    credentials = grpc.ssl_channel_credentials(Path(pem["certificate"]).read_bytes())
    with grpc.secure_channel(guarded, credentials) as channel:
        call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
        with pytest.raises(grpc.RpcError) as raised:
            list(call(iter([b"", b""]), timeout=PATIENCE))
    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_health_is_open(trusting: triton.InferenceServerClient) -> None:
    assert trusting.is_server_live()
    assert trusting.is_server_ready()


@pytest.mark.slow
def test_a_token_is_asked_for_before_the_message_is_read(guarded: str, pem: dict[str, str]) -> None:
    credentials = grpc.ssl_channel_credentials(Path(pem["certificate"]).read_bytes())
    with grpc.secure_channel(guarded, credentials) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.RpcError) as raised:
            call(bytes(2 * LIMIT), timeout=PATIENCE)
    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_without_tls_there_is_no_answer(guarded: str) -> None:
    with grpc.insecure_channel(guarded) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ServerLive")
        with pytest.raises(grpc.RpcError) as raised:
            call(b"", timeout=PATIENCE)
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE


def failing(models: Path, **options: Any) -> None:
    """Start a server that cannot be started."""
    asyncio.run(start(Service([models / "scale" / "1" / "net.t7"]), **options))


def test_a_port_that_is_taken_is_an_error_with_its_name(models: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=rf"127\.0\.0\.1:{port}: Address already in use; --grpc-port names"):
            failing(models, port=port)


def test_files_of_tls_that_do_not_fit_are_errors_with_their_names(
    models: Path, pem: dict[str, str], tmp_path: Path
) -> None:
    other = certificate(tmp_path)
    with pytest.raises(OSError, match=r"cert\.pem.*key\.pem: .*MISMATCH"):
        failing(models, port=0, certificate=pem["certificate"], key=other["key"])
    with pytest.raises(OSError, match=r"none\.pem: No such file"):
        failing(models, port=0, certificate=pem["certificate"], key=str(tmp_path / "none.pem"))
    with pytest.raises(ValueError, match="certificate and key go together"):
        failing(models, port=0, certificate=pem["certificate"])
