"""Routes of the Open Inference Protocol for the server and its models; inference itself is in `direct`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.models import TensorSpec
from bridge.serve.engine import Service
from bridge.serve.engine.datatypes import NAMES
from bridge.serve.engine.served import Served
from bridge.serve.engine.tensors import sizes
from bridge.serve.rest.bodies import answer

EXTENSIONS = [
    "binary_tensor_data",
    "model_configuration",
    "model_repository",
    "model_repository(unload_dependents)",
    "statistics",
]


def service(request: Request) -> Service:
    """Return the application's service."""
    found: Service = request.app.state.service
    return found


async def server(request: Request) -> Response:
    """GET /v2."""
    return answer({"name": "moontide", "version": request.app.state.version, "extensions": EXTENSIONS})


async def live(_: Request) -> Response:
    """GET /v2/health/live."""
    return answer({"live": True})


async def ready(request: Request) -> Response:
    """GET /v2/health/ready."""
    is_ready = service(request).ready
    return answer({"ready": is_ready}, 200 if is_ready else 503)


async def models(request: Request) -> Response:
    """GET /v2/models."""
    return answer({"models": sorted({one.name for one in service(request).repository})})


def served(request: Request) -> Served:
    """Return the model and version that a path names."""
    path = request.path_params
    return service(request).repository.find(path["model"], path.get("version"))


async def model(request: Request) -> Response:
    """GET /v2/models/MODEL[/versions/VERSION]."""
    found = served(request)
    told = found.description
    return answer(
        {
            "name": found.name,
            "versions": service(request).repository.versions(found.name),
            "platform": f"moontide_{told.platform}",
            "inputs": specs(told.inputs),
            "outputs": specs(told.outputs),
        }
    )


def specs(found: tuple[TensorSpec, ...] | None) -> list[dict[str, Any]]:
    """Return inputs or outputs in the protocol's form, without what is unknown."""
    return [
        {"name": one.name, "datatype": NAMES.get(one.dtype or "float32", "BYTES"), "shape": sizes(one)}
        for one in found or ()
    ]


async def model_ready(request: Request) -> Response:
    """GET /v2/models/MODEL[/versions/VERSION]/ready."""
    found = served(request)
    return answer({"name": found.name, "ready": bool(found.pids)}, 200 if found.pids else 503)


async def configuration(request: Request) -> Response:
    """GET /v2/models/MODEL[/versions/VERSION]/config."""
    return answer(served(request).config)


async def statistics(request: Request) -> Response:
    """GET /v2/models/stats, /v2/models/MODEL[/versions/VERSION]/stats."""
    path = request.path_params
    rows = [served(request)] if "model" in path else list(service(request).repository)
    return answer(
        {
            "model_stats": [
                {
                    "name": one.name,
                    "version": one.version,
                    **one.statistics.triton(),
                    "pending": one.waiting,
                    "workers": len(one.pids),
                }
                for one in rows
            ]
        }
    )


MODEL = ("/v2/models/{model}", "/v2/models/{model}/versions/{version}")
ROUTES = [
    Route("/v2/health/live", live),
    Route("/v2/health/ready", ready),
    Route("/v2", server),
    Route("/v2/models", models),
    Route("/v2/models/stats", statistics),
    *(Route(path, model) for path in MODEL),
    *(Route(f"{path}/ready", model_ready) for path in MODEL),
    *(Route(f"{path}/config", configuration) for path in MODEL),
    *(Route(f"{path}/stats", statistics) for path in MODEL),
]
