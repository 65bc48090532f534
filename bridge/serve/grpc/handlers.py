"""The handlers of all methods: they decode messages, turn refusals into status codes, and run streams of requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from bridge.serve.engine import Reason, Refused, Service
from bridge.serve.grpc.access import noted
from bridge.serve.grpc.messages import MESSAGES
from bridge.serve.grpc.servicer import INFERENCE, METHODS, Method, model_infer

logger = logging.getLogger(__name__)

CODES = {
    Reason.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.UNKNOWN: grpc.StatusCode.NOT_FOUND,
    Reason.METHOD: grpc.StatusCode.UNIMPLEMENTED,
    Reason.AMBIGUOUS: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    Reason.FAILED: grpc.StatusCode.UNKNOWN,  # gRPC's code for errors that a program raised
    Reason.BUSY: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
    Reason.LOST: grpc.StatusCode.UNAVAILABLE,
    Reason.LATE: grpc.StatusCode.DEADLINE_EXCEEDED,
}
# Bytes of an error's text. It travels in a header, where a byte takes up to three; clients take 8 KiB of headers.
LONGEST = 2000
IN_FLIGHT = 64  # most requests of a stream that run at the same time


def handlers(service: Service, *, access: bool = False) -> list[grpc.GenericRpcHandler]:
    """Return the handlers of all methods; with `access` each call is logged."""
    rows: dict[str, dict[str, grpc.RpcMethodHandler]] = {}
    for name, method, taken, function in METHODS:
        answer = unary(service, f"/{name}/{method}", taken, function, access=access)
        rows.setdefault(name, {})[method] = grpc.unary_unary_rpc_method_handler(answer)
    rows[INFERENCE]["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(
        stream(service, f"/{INFERENCE}/ModelStreamInfer", access=access)
    )
    return [grpc.method_handlers_generic_handler(name, methods) for name, methods in rows.items()]


def unary(
    service: Service, path: str, taken: str, function: Method, *, access: bool
) -> Callable[[bytes, Any], Awaitable[bytes]]:
    """Return a method that takes and returns a message as bytes."""

    async def answer(content: bytes, context: Any) -> bytes:
        with noted(path, context, every=access):
            try:
                response = await function(service, message(taken, content))
                found: bytes = response.SerializeToString()
            except Exception as error:
                refused = refusal(path, error)
                await context.abort(CODES[refused.reason], shortened(str(refused)))
                raise  # abort has raised already
            return found

    return answer


def stream(
    service: Service, path: str, *, access: bool
) -> Callable[[AsyncIterator[bytes], Any], Awaitable[None]]:
    """Return ModelStreamInfer: responses come in the order of the requests, several of which run at the same time."""

    async def answered(content: bytes) -> bytes:
        """Return a request's response; a refused request does not end the stream."""
        response = MESSAGES["ModelStreamInferResponse"]()
        try:
            request = message("ModelInferRequest", content)
            response.infer_response.id = request.id
            response.infer_response.CopyFrom(await model_infer(service, request))
            found: bytes = response.SerializeToString()
        except Exception as error:
            response.error_message = str(refusal(path, error)).encode(errors="replace")
            found = response.SerializeToString()
        return found

    async def answer(contents: AsyncIterator[bytes], context: Any) -> None:
        answers: asyncio.Queue[asyncio.Task[bytes] | None] = asyncio.Queue(IN_FLIGHT)

        async def read() -> None:
            async for content in contents:
                await answers.put(group.create_task(answered(content)))
            await answers.put(None)

        with noted(path, context, every=access):
            async with asyncio.TaskGroup() as group:
                group.create_task(read())
                while (one := await answers.get()) is not None:
                    await context.write(await one)

    return answer


def message(name: str, content: bytes) -> Any:
    """Return the message in bytes.

    Raises
    ------
    Refused
        The bytes are not a message.
    """
    try:
        return MESSAGES[name].FromString(content)
    except DecodeError as error:
        raise Refused(Reason.INVALID, f"{len(content)} bytes are no {name}: {error}") from None


def refusal(path: str, error: Exception) -> Refused:
    """Return the `Refused` for an exception."""
    if isinstance(error, Refused):
        return error
    logger.error("%s: a defect of the service", path, exc_info=error)
    return Refused(Reason.INTERNAL, f"a defect of the service: {type(error).__name__}: {error}")


def shortened(text: str) -> str:
    """Return an error's text, shortened to what a header can have."""
    content = text.encode(errors="replace")
    if len(content) <= LONGEST:
        return content.decode()
    return content[:LONGEST].decode(errors="ignore") + " ..."
