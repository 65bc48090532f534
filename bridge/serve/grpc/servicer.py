"""The methods of the protocol: each makes a response message from a request message, by the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from bridge.models import TensorSpec
from bridge.serve.engine import Reason, Refused, Service
from bridge.serve.engine.config import KINDS, TYPES
from bridge.serve.engine.datatypes import NAMES
from bridge.serve.engine.service import patience
from bridge.serve.engine.tensors import sizes
from bridge.serve.grpc import contents
from bridge.serve.grpc.messages import MESSAGES

INFERENCE = "inference.GRPCInferenceService"
HEALTH = "grpc.health.v1.Health"
EXTENSIONS = ["model_configuration", "model_repository", "model_repository(unload_dependents)", "statistics"]
SERVING, NOT_SERVING = 1, 2  # values of the health check

Method = Callable[[Service, Any], Awaitable[Any]]


async def server_live(_: Service, __: Any) -> Any:
    """Return that the server is alive."""
    return MESSAGES["ServerLiveResponse"](live=True)


async def server_ready(service: Service, _: Any) -> Any:
    """Return whether all models are loaded."""
    return MESSAGES["ServerReadyResponse"](ready=service.ready)


async def model_ready(service: Service, request: Any) -> Any:
    """Return whether a model has a process. As in Triton, an unknown model is not ready."""
    try:
        ready = bool(service.repository.find(request.name, request.version or None).pids)
    except Refused:
        ready = False
    return MESSAGES["ModelReadyResponse"](ready=ready)


async def server_metadata(_: Service, __: Any) -> Any:
    """Return the server's name, version and extensions."""
    return MESSAGES["ServerMetadataResponse"](
        name="moontide", version=version("moontide"), extensions=EXTENSIONS
    )


async def model_metadata(service: Service, request: Any) -> Any:
    """Return a model's inputs, outputs and versions, without what is unknown."""
    found = service.repository.find(request.name, request.version or None)
    told = found.description
    return MESSAGES["ModelMetadataResponse"](
        name=found.name,
        versions=service.repository.versions(found.name),
        platform=f"moontide_{told.platform}",
        inputs=[described(one) for one in told.inputs or ()],
        outputs=[described(one) for one in told.outputs or ()],
    )


def described(one: TensorSpec) -> dict[str, Any]:
    """Return the entry of an input or output in a message."""
    return {"name": one.name, "datatype": NAMES.get(one.dtype or "float32", "BYTES"), "shape": sizes(one)}


async def model_config(service: Service, request: Any) -> Any:
    """Return a model's configuration."""
    found = service.repository.find(request.name, request.version or None).config
    for one in (*found["input"], *found["output"]):
        one["data_type"] = TYPES.index(one["data_type"])
    for one in found["instance_group"]:
        one["kind"] = KINDS.index(one["kind"])
    return MESSAGES["ModelConfigResponse"](config=found)


async def model_infer(service: Service, request: Any) -> Any:
    """Return a model's outputs: as raw bytes, unless the parameter binary_data_output is false."""
    asked = contents.parameters(request.parameters)
    raw = asked.get("binary_data_output", True)
    if not isinstance(raw, bool):
        raise contents.invalid("parameter 'binary_data_output' is neither true nor false")
    for one in request.outputs:
        contents.parameters(one.parameters)
    number, outputs = await service.infer(
        request.model_name,
        contents.inputs(request),
        request.model_version or None,
        patience(asked.get("timeout")),
    )
    response = MESSAGES["ModelInferResponse"](
        model_name=request.model_name, model_version=number, id=request.id
    )
    contents.fill(response, contents.wanted(request, outputs), raw=raw)
    if (
        asked.get("triton_enable_empty_final_response") is True
    ):  # a request has a single response, so it is also the final one
        response.parameters.add(key="triton_final_response").value.bool_param = True
    return response


async def model_statistics(service: Service, request: Any) -> Any:
    """Return the statistics of a model, or of all models."""
    repository = service.repository
    rows = [repository.find(request.name, request.version or None)] if request.name else list(repository)
    return MESSAGES["ModelStatisticsResponse"](
        model_stats=[{"name": one.name, "version": one.version, **one.statistics.triton()} for one in rows]
    )


async def repository_index(service: Service, request: Any) -> Any:
    """Return all models with their states, or only those that are served."""
    rows = service.repository.index()
    return MESSAGES["RepositoryIndexResponse"](
        models=[row for row in rows if not request.ready or row["state"] == "READY"]
    )


async def repository_load(service: Service, request: Any) -> Any:
    """Load a model's files again."""
    await service.repository.load(request.model_name, [one.key for one in request.parameters])
    return MESSAGES["RepositoryModelLoadResponse"]()


async def repository_unload(service: Service, request: Any) -> Any:
    """Stop serving a model."""
    await service.repository.unload(request.model_name)
    return MESSAGES["RepositoryModelUnloadResponse"]()


async def check(service: Service, request: Any) -> Any:
    """Return the health of the server, or of one of its services."""
    if request.service not in ("", INFERENCE, HEALTH):
        raise Refused(Reason.UNKNOWN, f"there is no service {request.service!r}; there is {INFERENCE}")
    ready = service.ready or request.service == HEALTH
    return MESSAGES["HealthCheckResponse"](status=SERVING if ready else NOT_SERVING)


# Service, method, the message that it takes, the function above.
METHODS: tuple[tuple[str, str, str, Method], ...] = (
    (INFERENCE, "ServerLive", "ServerLiveRequest", server_live),
    (INFERENCE, "ServerReady", "ServerReadyRequest", server_ready),
    (INFERENCE, "ModelReady", "ModelReadyRequest", model_ready),
    (INFERENCE, "ServerMetadata", "ServerMetadataRequest", server_metadata),
    (INFERENCE, "ModelMetadata", "ModelMetadataRequest", model_metadata),
    (INFERENCE, "ModelConfig", "ModelConfigRequest", model_config),
    (INFERENCE, "ModelInfer", "ModelInferRequest", model_infer),
    (INFERENCE, "ModelStatistics", "ModelStatisticsRequest", model_statistics),
    (INFERENCE, "RepositoryIndex", "RepositoryIndexRequest", repository_index),
    (INFERENCE, "RepositoryModelLoad", "RepositoryModelLoadRequest", repository_load),
    (INFERENCE, "RepositoryModelUnload", "RepositoryModelUnloadRequest", repository_unload),
    (HEALTH, "Check", "HealthCheckRequest", check),
)
