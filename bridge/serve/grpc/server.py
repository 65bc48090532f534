"""The gRPC server: its port, TLS, and the limits of a connection."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import grpc

from bridge.serve.engine import Service
from bridge.serve.grpc.guard import Guard
from bridge.serve.grpc.handlers import handlers

OPTIONS = (
    ("grpc.so_reuseport", 0),  # two servers on one port would each get some of the calls
    ("grpc.max_send_message_length", -1),
    ("grpc.max_concurrent_streams", 1024),  # calls of one connection
    ("grpc.server_handshake_timeout_ms", 30_000),
    # Notice clients that have vanished, and disconnect clients that send keepalive pings more often than every 10 s.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
)


async def start(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 8081,
    token: str | None = None,
    certificate: str | None = None,
    key: str | None = None,
    body_limit: int = 64 << 20,
    access: bool = False,
) -> tuple[grpc.aio.Server, int]:
    """Start a server; `await server.stop(grace)` ends it.

    Parameters
    ----------
    service : Service
        The service; the caller starts and stops it.
    host : str
        An address of this machine.
    port : int
        0: any free port.
    token : str, optional
        The token that clients must send, as metadata `authorization: Bearer TOKEN`.
    certificate, key : str, optional
        PEM files; with them, clients must use TLS.
    body_limit : int
        Most bytes of a request's message.
    access : bool
        Whether each call is logged.

    Returns
    -------
    server : grpc.aio.Server
    port : int
        Where it listens.

    Raises
    ------
    OSError
        The port is taken, or a PEM file cannot be read or does not belong to the other one.
    ValueError
        Only one of certificate and key is given. (Otherwise the server would run without TLS.)
    """
    if (certificate is None) != (key is None):
        raise ValueError("certificate and key go together")
    credentials = None if certificate is None or key is None else tls(certificate, key)
    probe(host, port)
    server = grpc.aio.server(
        handlers=handlers(service, access=access),
        interceptors=[] if token is None else [Guard(token, access=access)],
        options=[*OPTIONS, ("grpc.max_receive_message_length", body_limit)],
    )
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        if credentials is None:
            bound: int = server.add_insecure_port(address)
        else:
            bound = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise OSError(f"{host}:{port}: {error}") from None
    await server.start()
    return server, bound


def tls(certificate: str, key: str) -> grpc.ServerCredentials:
    """Return the server's credentials.

    Raises
    ------
    OSError
        A file cannot be read, is not PEM, or the two do not belong together. (gRPC itself would only log that.)
    """
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except OSError as error:
        raise OSError(error.errno, f"{certificate}, {key}: {error.strerror or error}") from None
    return grpc.ssl_server_credentials([(Path(key).read_bytes(), Path(certificate).read_bytes())])


def probe(host: str, port: int) -> None:
    """Check that a port can be used, because gRPC does not report why it cannot.

    Raises
    ------
    OSError
        It cannot; the message says why.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError as error:
            raise OSError(
                error.errno, f"{host}:{port}: {error.strerror}; --grpc-port names another one"
            ) from None
