"""The OpenAPI description of the routes, for client generators and for the page."""

from __future__ import annotations

from typing import Any

from bridge.serve.engine import Service
from bridge.serve.engine.datatypes import KINDS

TEXT = {"type": "string"}
ERROR = {"type": "object", "required": ["error"], "properties": {"error": TEXT}}
PARAMETERS = {"type": "object", "additionalProperties": True}
OF_REQUESTS = {
    **PARAMETERS,
    "properties": {
        "timeout": {"type": "integer", "minimum": 0, "description": "microseconds; 0: the server's"},
        "binary_data_output": {"type": "boolean"},
    },
}
TENSOR = {
    "type": "object",
    "required": ["name", "shape", "datatype"],
    "properties": {
        "name": TEXT,
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "datatype": {"type": "string", "enum": [*KINDS, "BYTES"]},
        "parameters": PARAMETERS,
        "data": {"type": "array", "items": {}},
    },
}
SCHEMAS = {
    "Error": ERROR,
    "Tensor": TENSOR,
    "InferRequest": {
        "type": "object",
        "required": ["inputs"],
        "properties": {
            "id": TEXT,
            "parameters": OF_REQUESTS,
            "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/Tensor"}},
            "outputs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": TEXT, "parameters": PARAMETERS},
                },
            },
        },
    },
    "InferResponse": {
        "type": "object",
        "required": ["model_name", "outputs"],
        "properties": {
            "model_name": TEXT,
            "model_version": TEXT,
            "id": TEXT,
            "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/Tensor"}},
        },
    },
    "Object": {"type": "object", "additionalProperties": True},
    "List": {"type": "array", "items": {}},
    "Arguments": {
        "oneOf": [{"type": "array", "items": {}}, {"type": "object", "additionalProperties": True}]
    },
}
# The errors of every route, and further ones of routes that call a model.
ALWAYS = {
    400: "the request is wrong",
    401: "a token is needed",
    403: "another web page asks, or another host name",
    404: "there is no such model, version, function or path",
    405: "the path has other methods",
}
WITH_BODY = {413: "the body is too long", 415: "the body is encoded"}
OF_MODELS = {
    409: "several models have the function",
    422: "the model raised an error for this input",
    429: "too many requests wait: try again later",
    503: "the model's process ended, or there is none",
    504: "there was no answer in time",
}
# Path, method, description, request, response, whether a model is called.
ROUTES: tuple[tuple[str, str, str, str | None, str, bool], ...] = (
    ("/v2", "get", "The server's name, version and extensions", None, "Object", False),
    ("/v2/health/live", "get", "Whether the server lives", None, "Object", False),
    ("/v2/health/ready", "get", "Whether all models are loaded", None, "Object", True),
    ("/v2/models", "get", "The names of all models", None, "Object", False),
    ("/v2/models/stats", "get", "What all models have served", None, "Object", False),
    ("/v2/models/{model}", "get", "A model's inputs, outputs and versions", None, "Object", False),
    ("/v2/models/{model}/ready", "get", "Whether a model is ready", None, "Object", True),
    ("/v2/models/{model}/config", "get", "How a model is served, in Triton's words", None, "Object", False),
    ("/v2/models/{model}/stats", "get", "What a model has served", None, "Object", False),
    ("/v2/models/{model}/infer", "post", "Tensors in, tensors out", "InferRequest", "InferResponse", True),
    ("/v2/models/{model}/versions/{version}", "get", "A version of a model", None, "Object", False),
    ("/v2/models/{model}/versions/{version}/ready", "get", "Whether it is ready", None, "Object", True),
    ("/v2/models/{model}/versions/{version}/config", "get", "How it is served", None, "Object", False),
    ("/v2/models/{model}/versions/{version}/stats", "get", "What it has served", None, "Object", False),
    (
        *("/v2/models/{model}/versions/{version}/infer", "post", "Tensors in, tensors out"),
        *("InferRequest", "InferResponse", True),
    ),
    ("/v2/repository/index", "post", "All models and their states", "Object", "List", False),
    ("/v2/repository/models/{model}/load", "post", "Load a model's files again", "Object", "Object", True),
    ("/v2/repository/models/{model}/unload", "post", "Serve a model no longer", "Object", "Object", False),
    ("/call", "get", "All functions with their parameters", None, "Object", False),
    ("/call/{function}", "post", "Call a function of Lua by JSON", "Arguments", "Object", True),
    ("/call/{model}/{function}", "post", "Call a function of one model", "Arguments", "Object", True),
)


def document(service: Service, version: str) -> dict[str, Any]:
    """Return the description, with the functions that exist now."""
    paths: dict[str, Any] = {}
    first = next(iter(service.repository), None)
    for path, method, summary, taken, given, of_model in ROUTES:
        paths.setdefault(path, {})[method] = operation(path, method, summary, taken, given, of_model)
        if first is not None:
            for parameter in paths[path][method]["parameters"]:
                parameter["example"] = {"model": first.name, "version": first.version}.get(
                    parameter["name"], "name"
                )
    for one in service.repository:
        for name, parameters in one.description.parameters.items():
            path = f"/call/{one.name}/{name}"
            summary = f"{one.name}: {name}({', '.join(parameters)})"
            paths[path] = {"post": operation(path, "post", summary, "Arguments", "Object", True)}
            paths[path]["post"]["requestBody"]["content"] = {
                "application/json": {"schema": arguments(parameters)}
            }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "moontide",
            "version": version,
            "description": "Models by the Open Inference Protocol.",
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def operation(
    path: str, method: str, summary: str, taken: str | None, given: str, of_model: bool
) -> dict[str, Any]:
    """Return the description of one route."""
    refusals = {**ALWAYS, **(WITH_BODY if taken else {}), **(OF_MODELS if of_model else {})}
    told: dict[str, Any] = {
        "summary": summary,
        "operationId": f"{method}{path}".translate(str.maketrans("/{}", "_  ")).replace(" ", ""),
        "parameters": [
            {"name": part[1:-1], "in": "path", "required": True, "schema": TEXT}
            for part in path.split("/")
            if part.startswith("{")
        ],
        "responses": {
            "200": {"description": "done", "content": content(given)},
            **{
                str(status): {"description": text, "content": content("Error")}
                for status, text in refusals.items()
            },
        },
    }
    if taken:
        told["requestBody"] = {"required": taken in ("InferRequest",), "content": content(taken)}
    if path.endswith("/ready"):
        told["responses"]["503"] = {"description": "not ready", "content": content("Object")}
    return told


def arguments(parameters: list[str]) -> dict[str, Any]:
    """Return the schema of a function's arguments: in order, or by name."""
    named = [name for name in parameters if name != "..."]
    return {
        "oneOf": [
            {"type": "array", "items": {}},
            {"type": "object", "properties": {name: {} for name in named}, "additionalProperties": False},
        ]
    }


def content(schema: str) -> dict[str, Any]:
    """Return the description of a JSON body with this schema."""
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
