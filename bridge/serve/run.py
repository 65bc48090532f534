"""A complete server: HTTP and gRPC until a signal comes. Then it answers the requests it has and ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn
import uvloop

from bridge.serve.engine import Service
from bridge.serve.rest import application
from bridge.serve.rest.application import BODY_LIMIT
from bridge.serve.rest.guard import LOOPBACK
from bridge.serve.rest.protocol import ImpatientProtocol

logger = logging.getLogger(__name__)

BACKLOG = 2048  # connections that may wait to be accepted
LEAVING = 5  # seconds to send the last responses, after the grace time of requests


@dataclass(frozen=True)
class Listening:
    """Where a server listens, and what it requires of clients.

    Attributes
    ----------
    host : str
        An address of this machine. A loopback address can be reached from this machine only.
    port, grpc_port : int or None
        0: any free port. grpc_port None: no gRPC.
    token : str or None
        The token that clients must send.
    certificate, key : str or None
        PEM files; with them, both ports use TLS.
    body_limit : int
        Most bytes of a request.
    grace : float
        Seconds that running requests have to finish when the server ends.
    access : bool
        Whether each request is logged.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    grpc_port: int | None = 8081
    token: str | None = None
    certificate: str | None = None
    key: str | None = None
    body_limit: int = BODY_LIMIT
    grace: float = 30.0
    access: bool = False


class Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to `serve`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers."""
        yield


def run(service_of: Any, listening: Listening, ready: Any = None) -> None:
    """Serve until SIGTERM or SIGINT.

    Parameters
    ----------
    service_of : callable
        Makes the service.
    listening : Listening
        Where to listen.
    ready : callable, optional
        Called with the two addresses when all models are loaded and both ports are open.

    Raises
    ------
    OSError
        A port is taken.
    ValueError
        A model cannot be loaded.
    """
    raise_limit_of_files()
    uvloop.run(serve(service_of(), listening, ready))


async def serve(service: Service, listening: Listening, ready: Any = None) -> None:
    """Serve until SIGTERM or SIGINT; see `run`."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    sock = bound(listening.host, listening.port)
    try:
        app = application(
            service,
            token=listening.token,
            body_limit=listening.body_limit,
            hosts=LOOPBACK if listening.host in LOOPBACK else None,
            access=listening.access,
        )
        config = uvicorn.Config(
            app,
            http=ImpatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=round(listening.grace) + LEAVING,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.key,
        )
        server = Server(config)
        await started(service, ended)
        if ended.is_set():
            return
        gc.collect()
        gc.freeze()  # the garbage collector no longer visits the objects that exist now
        sock.listen(BACKLOG)  # before the address is announced
        task = loop.create_task(server.serve(sockets=[sock]))
        grpc: Grpc | None = None
        try:
            grpc = await started_grpc(service, listening)
            scheme = "https" if listening.certificate else "http"
            host, port = sock.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            if ready is not None:
                ready(f"{scheme}://{shown}:{port}", None if grpc is None else f"{shown}:{grpc.port}")
            waiting = loop.create_task(ended.wait())
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            logger.info("ending: requests that are at work get %g s", listening.grace)
        finally:
            server.should_exit = True
            calls = None if grpc is None else loop.create_task(grpc.server.stop(listening.grace + LEAVING))
            await service.stop(listening.grace)
            await task
            if grpc is not None and calls is not None:
                await grpc.server.stop(1.0)  # streams that clients have not ended
                await calls
    finally:
        sock.close()
        await service.stop(listening.grace)


async def started(service: Service, ended: asyncio.Event) -> None:
    """Load all models, or stop loading when a signal comes."""
    loop = asyncio.get_running_loop()
    loading = loop.create_task(service.start())
    waiting = loop.create_task(ended.wait())
    await asyncio.wait([loading, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not loading.done():
        loading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loading
        return
    loading.result()


@dataclass(frozen=True)
class Grpc:
    """A gRPC server and its port."""

    server: Any
    port: int


async def started_grpc(service: Service, listening: Listening) -> Grpc | None:
    """Start the gRPC server and return it; None if there is to be none."""
    if listening.grpc_port is None:
        return None
    from bridge.serve.grpc import start

    server, port = await start(
        service,
        host=listening.host,
        port=listening.grpc_port,
        token=listening.token,
        certificate=listening.certificate,
        key=listening.key,
        body_limit=listening.body_limit,
        access=listening.access,
    )
    return Grpc(server, port)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address. Raises OSError with the address if it is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"{host}:{port}: {error.strerror}; --port names another one") from None
    return sock


def raise_limit_of_files() -> None:
    """Raise this process's limit of open files, and so of connections, to the highest allowed value."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
