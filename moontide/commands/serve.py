"""Serve models over HTTP and gRPC, by the Open Inference Protocol that Triton and KServe speak, with a page at /.

A MODEL is a .t7 file with a network, a .lua file with functions, what `moontide convert` wrote (.pt2, .onnx, or .pt
with --network), a directory whose numbered entries are versions, or a directory of any of these. Models run in
processes of their own: one that crashes, loops or takes all memory costs the request that made it do so, and is
replaced. A file that changes is served anew without a lost request. Only this machine is listened to, unless --host
says otherwise.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from moontide.errors import CommandError
from moontide.extras import need
from moontide.options import CommandParser, files, nbytes, positive, seconds

HELP = "serve models over HTTP and gRPC"


def add_arguments(parser: CommandParser) -> None:
    """Declare the models, how they run, and who may come."""
    parser.intermixed = True
    files(parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="a file or a directory"))
    models = parser.add_argument_group("models")
    models.add_argument("--name", help="what the model is called, where there is one (the file's name)")
    models.add_argument("--function", help="the function that inference calls (the only one; forward)")
    models.add_argument("--key", help="the place of the network in a .t7 file's tables, such as protos.rnn")
    files(models.add_argument("--network", metavar="FILE.t7", help="the network of a .pt file's parameters"))
    models.add_argument(
        "--device", default="cpu", help="where networks compute: cpu, cuda, cuda:1 (%(default)s)"
    )
    models.add_argument(
        "--allow-functions",
        action="store_true",
        help="let functions that are stored in a .t7 file run: for files that you trust",
    )
    work = parser.add_argument_group("work")
    work.add_argument("--workers", type=positive, default=1, help="processes for each model (%(default)s)")
    work.add_argument(
        "--batch", type=positive, help="rows that are computed together, at most (32; 1 for functions of Lua)"
    )
    work.add_argument(
        "--batch-wait-ms",
        type=seconds,
        default=2.0,
        metavar="MS",
        help="how long a request waits for others, where others are to be expected (%(default)g)",
    )
    work.add_argument(
        "--timeout",
        type=seconds,
        metavar="S",
        default=30.0,
        help="seconds that a request may take (%(default)g)",
    )
    work.add_argument(
        "--queue", type=positive, default=1024, help="requests that may wait for a model (%(default)s)"
    )
    work.add_argument(
        "--memory", type=nbytes, metavar="SIZE", help="what a model may take, such as 2G (no limit)"
    )
    work.add_argument(
        "--start-timeout",
        type=seconds,
        metavar="S",
        default=60.0,
        help="seconds that loading may take (%(default)g)",
    )
    work.add_argument(
        "--watch",
        type=seconds,
        default=1.0,
        help="seconds between looks for changed files, 0: none (%(default)g)",
    )
    net = parser.add_argument_group("network")
    net.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    net.add_argument("--port", type=port, default=8080, help="of HTTP, 0: any that is free (%(default)s)")
    net.add_argument("--grpc-port", type=port, metavar="PORT", default=8081, help="of gRPC (%(default)s)")
    net.add_argument("--no-grpc", action="store_true", help="HTTP alone")
    files(
        net.add_argument(
            "--token",
            metavar="FILE",
            help="a file with the word that clients must know; MOONTIDE_TOKEN has it too",
        )
    )
    files(net.add_argument("--tls-cert", metavar="PEM", help="speak TLS, with this certificate"))
    files(net.add_argument("--tls-key", metavar="PEM", help="the certificate's key"))
    net.add_argument(
        "--body-limit", type=nbytes, default=64 << 20, metavar="SIZE", help="of a request's body (64M)"
    )
    net.add_argument(
        "--grace",
        type=seconds,
        metavar="S",
        default=30.0,
        help="seconds for requests at work when it ends (%(default)g)",
    )
    log = parser.add_argument_group("log")
    log.add_argument(
        "--log", choices=("json", "text"), default="json", help="form of the lines (%(default)s)"
    )
    log.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        metavar="LEVEL",
        default="info",
        help="debug, info, warning or error (%(default)s)",
    )
    log.add_argument("--access-log", action="store_true", help="a line for each request")


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    need("serve")
    if (arguments.tls_cert is None) != (arguments.tls_key is None):
        raise CommandError("--tls-cert and --tls-key go together")
    token = word(arguments.token)
    from bridge.serve.engine import ModelSettings, Service
    from bridge.serve.log import log_to_stderr
    from bridge.serve.run import Listening, run

    log_to_stderr(lines=arguments.log, level=arguments.log_level)
    settings = ModelSettings(
        function=arguments.function,
        key=arguments.key,
        network=arguments.network,
        device=arguments.device,
        allow_functions=arguments.allow_functions,
        workers=arguments.workers,
        batch=arguments.batch,
        batch_wait=arguments.batch_wait_ms / 1e3,
        timeout=arguments.timeout,
        queue=arguments.queue,
        memory=arguments.memory,
        start_timeout=arguments.start_timeout,
    )
    listening = Listening(
        host=arguments.host,
        port=arguments.port,
        grpc_port=None if arguments.no_grpc else arguments.grpc_port,
        token=token,
        certificate=arguments.tls_cert,
        key=arguments.tls_key,
        body_limit=arguments.body_limit,
        grace=arguments.grace,
        access=arguments.access_log,
    )

    def service() -> Any:
        return Service(arguments.models, settings, name=arguments.name, watch=arguments.watch)

    try:
        run(service, listening, told)
    except (OSError, ValueError) as error:
        raise CommandError(str(error)) from error
    return 0


def told(http: str, grpc: str | None) -> None:
    """Say where the server is, when it is ready."""
    print(f"serving at {http}" + (f", gRPC at {grpc}" if grpc else "") + "; Ctrl-C ends it", flush=True)


def word(file: str | None) -> str | None:
    """Return the token, from the file or the environment.

    Raises
    ------
    CommandError
        The file cannot be read, or the word is empty or has other characters than a header may have.
    """
    if file is None:
        found = os.environ.get("MOONTIDE_TOKEN")
    else:
        try:
            found = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"--token {file}: {error}") from error
    if found is not None and (not found or not found.isascii() or not found.isprintable() or " " in found):
        raise CommandError("a token is a word of printable ASCII characters")
    return found


def port(text: str) -> int:
    """Return a port's number, or raise what argparse turns into a message."""
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise argparse.ArgumentTypeError(f"expected a port of 0 to 65535, got {text}")
    return number
