"""Routes of functions: JSON in, JSON out; positions count from 0, as everywhere in Python."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.models.plain import plain
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.rest.bodies import answer, json
from bridge.serve.rest.inference import service


async def functions(request: Request) -> Response:
    """GET /call: all functions, with their parameters."""
    return answer(
        {
            "functions": [
                {"model": one.name, "version": one.version, "function": name, "parameters": parameters}
                for one in service(request).repository
                for name, parameters in one.description.parameters.items()
            ]
        }
    )


async def call(request: Request) -> Response:
    """POST /call/FUNCTION, /call/MODEL/FUNCTION: a list is the arguments in order, an object has them by name."""
    path = request.path_params
    told = await json(request)
    given = [] if told is None else told
    found = service(request).find_function(path["function"], path.get("model"))
    arguments = given
    if isinstance(given, dict):
        arguments = ordered(path["function"], found.description.parameters[path["function"]], given)
    if not isinstance(arguments, list):
        raise Refused(
            Reason.INVALID, "expected a list, the arguments in order, or an object with them by name"
        )
    result = await found.submit(path["function"], arguments)
    try:
        return answer({"result": plain(result)})
    except (TypeError, ValueError) as error:
        raise Refused(Reason.FAILED, str(error)) from None


def ordered(function: str, parameters: list[str], given: dict[str, Any]) -> list[Any]:
    """Return arguments by name in the function's order; what is left out is nil.

    Raises
    ------
    Refused
        The function has no parameter of a name.
    """
    unknown = [name for name in given if name not in parameters or name == "..."]
    if unknown:
        raise Refused(
            Reason.INVALID,
            f"{function} has no parameter {unknown[0]!r}; it has {', '.join(parameters) or 'none'}",
        )
    arguments = [given.get(name) for name in parameters if name != "..."]
    while arguments and arguments[-1] is None:
        arguments.pop()
    return arguments


ROUTES = [
    Route("/call", functions),
    Route("/call/{function}", call, methods=["POST"]),
    Route("/call/{model}/{function}", call, methods=["POST"]),
]
