"""Run a node of a parameter server by itself: alone, or one of several.

Prints where processes of this host attach to it (`pyps.attach`, `luaps.attach`) and where other nodes reach it, then
serves until SIGTERM or Ctrl-C; with --leave it then hands its keys over to the other nodes, which go on. The others are
found as `pyps.init` finds them: by the options here, or by the environment of torchrun or DMLC_*. CURVE keys come from
PYPS_CURVE_PUBLIC and PYPS_CURVE_SECRET.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moontide.errors import CommandError
from moontide.options import CommandParser, files
from moontide.signals import Stop, until

if TYPE_CHECKING:
    import pyps

HELP = "run a node of a parameter server until a signal ends it"
LOOK_EVERY = 1.0  # seconds between looks whether the node still works


def add_arguments(parser: CommandParser) -> None:
    """Declare the node's shape, where it listens, and how it finds the others."""
    parser.add_argument(
        "--generate-keys", action="store_true", help="print a new pair of CURVE keys for a shell and end"
    )
    shape = parser.add_argument_group("parameters, the same on all nodes")
    shape.add_argument("--num-keys", type=int, metavar="N", help="the keys are 0 to N - 1")
    shape.add_argument(
        "--capacity",
        type=int,
        metavar="N",
        help="instead: keys are any 64-bit numbers, of which each node can have N",
    )
    shape.add_argument(
        "--value-length",
        type=_lengths,
        default=(1,),
        metavar="N,...",
        help="elements of each value (1); with --capacity several, of which a key's topmost byte says one",
    )
    shape.add_argument("--dtype", default="float32", help="of the values (%(default)s)")
    shape.add_argument(
        "--techniques",
        default="auto",
        metavar="NAME",
        help="auto, all, replication_only or relocation_only (%(default)s)",
    )
    shape.add_argument(
        "--server-threads",
        type=int,
        default=1,
        metavar="N",
        help="threads of each node among which its keys are shared (%(default)s)",
    )
    shape.add_argument(
        "--replicas",
        type=int,
        default=0,
        metavar="N",
        help="other nodes that keep a copy of each key, so that nothing is lost with N nodes (%(default)s)",
    )
    shape.add_argument(
        "--optimizer",
        metavar="TEXT",
        help="what is done with pushed gradients, like adagrad:lr=0.1 (pushes add)",
    )
    shape.add_argument(
        "--initializer",
        metavar="TEXT",
        help="what values begin with, like uniform:low=-0.1,high=0.1,seed=7 (zeros)",
    )
    shape.add_argument(
        "--eviction",
        metavar="NAME",
        help="with --capacity: which keys go where room is needed, lru, lfu or age (none)",
    )
    shape.add_argument(
        "--max-age",
        type=float,
        metavar="SECONDS",
        help="with --capacity: keys go that nobody used for so long (they stay)",
    )
    shape.add_argument(
        "--admission",
        type=int,
        default=1,
        metavar="N",
        help="with --capacity: a key exists from its N-th use on, at most 255 (%(default)s)",
    )
    shape.add_argument(
        "--compression",
        metavar="TEXT",
        help="how pushes to replicas become shorter on their way, bfloat16 or like top_k:share=0.1 (they do not)",
    )
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-workers", type=int, default=256, metavar="N", help="at once (%(default)s)")
    limits.add_argument(
        "--memory-limit",
        type=int,
        metavar="BYTES",
        help="of shared memory, with copies that --replicas keep (what the host has)",
    )
    others = parser.add_argument_group("other nodes")
    others.add_argument(
        "--nodes", metavar="LIST", help="where each node listens, like tcp://HOST:PORT,tcp://HOST:PORT"
    )
    others.add_argument(
        "--rendezvous", metavar="ADDRESS", help="where they meet, like tcp://HOST:PORT; node 0 serves it"
    )
    others.add_argument(
        "--places",
        type=int,
        metavar="N",
        help="how many nodes there may ever be, with those that join later; needs --replicas (--num-nodes)",
    )
    others.add_argument(
        "--join",
        metavar="INVITATION",
        help="join the cluster of a node that has printed it; PYPS_JOIN keeps it out of lists of processes",
    )
    others.add_argument("--num-nodes", type=int, metavar="N", help="how many there are")
    others.add_argument("--rank", type=int, metavar="N", help="which one this is, from 0")
    others.add_argument(
        "--interface",
        metavar="NAME",
        help="interface or address where it listens (DMLC_INTERFACE, else the loopback)",
    )
    others.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="until all must have come (%(default)s)",
    )
    others.add_argument(
        "--patience",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="that it serves on at its end until the others are at theirs (%(default)s)",
    )
    others.add_argument(
        "--leave",
        action="store_true",
        help="at its end hand its keys over to the others, which go on, within the patience; needs --replicas",
    )
    watching = parser.add_argument_group("watching, over HTTP")
    watching.add_argument(
        "--metrics-port",
        type=int,
        metavar="PORT",
        help="where /metrics is for Prometheus, and what moontide top reads; 0 takes a free one",
    )
    watching.add_argument(
        "--metrics-host", metavar="NAME", help="interface or address of that port (the loopback)"
    )
    files(
        others.add_argument(
            "--address-file",
            type=Path,
            metavar="FILE",
            help="written once the node works: where processes of this host attach; removed at its end",
        )
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes; the status is 1 if the node failed, or closed before the others."""
    if arguments.generate_keys:
        return _print_keys()
    if arguments.num_keys is None and arguments.capacity is None:
        raise CommandError(
            "--num-keys is missing: how many keys there are, or --capacity if they are any numbers"
        )
    if arguments.leave and not arguments.replicas:
        raise CommandError(
            "--leave needs --replicas: while keys move, their copies see to it that none is lost"
        )
    import pyps

    signal.signal(signal.SIGTERM, _exit)  # while it starts
    try:
        node = pyps.init(arguments.num_keys, arguments.value_length, **_options(arguments))
    except (pyps.Error, ValueError, TypeError, OSError, MemoryError) as error:
        raise CommandError(str(error)) from None
    with until(signal.SIGINT, signal.SIGTERM) as stop:
        _serve(node, stop, arguments.address_file)
        return _end(node, arguments.patience, arguments.leave)


def _serve(node: pyps.Node, stop: Stop, address_file: Path | None) -> None:
    import pyps

    print(f"node {node.rank} of {node.num_nodes}")
    attach = node.address if isinstance(node, pyps.Server) else None
    if attach:
        print(f"attach to {attach}")
    if endpoint := getattr(node, "endpoint", ""):
        print(f"listens at {endpoint}")
    if invitation := getattr(node, "invitation", ""):
        print(f"others join with {invitation}")
    if metrics := getattr(node, "metrics_address", ""):
        print(f"metrics at {metrics}")
    sys.stdout.flush()
    try:
        if address_file:
            _write(address_file, f"{attach or ''}\n", node)
        while not stop.wait(LOOK_EVERY):
            if not node.is_open:
                node.shutdown(timeout=0)
                raise CommandError(f"node {node.rank} of {node.num_nodes} does not work any more")
    finally:
        if address_file:
            address_file.unlink(missing_ok=True)


def _end(node: pyps.Node, patience: float, leaves: bool) -> int:
    import pyps

    if leaves and isinstance(node, pyps.Server):
        try:
            node.leave(patience)
            return 0
        except (pyps.WaitTimeoutError, MemoryError, RuntimeError) as error:
            print(f"node {node.rank} could not leave: {error}", file=sys.stderr)
    try:
        node.shutdown(timeout=patience)
    except pyps.WaitTimeoutError as error:
        raise CommandError(str(error)) from None
    return 0


def _write(file: Path, text: str, node: pyps.Node) -> None:
    """Write a file that other processes see either whole or not at all."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text)
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        node.shutdown(timeout=0)
        raise CommandError(f"--address-file {file}: {error}") from None


def _lengths(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(length) for length in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, or several with commas, got {text}") from None


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    shape = (
        "capacity",
        "dtype",
        "techniques",
        "server_threads",
        "replicas",
        "optimizer",
        "initializer",
        "eviction",
        "max_age",
        "admission",
        "compression",
    )
    names = (*shape, "max_workers", "memory_limit")
    places = ("rendezvous", "num_nodes", "rank", "interface", "timeout", "places", "join")
    options = {name: getattr(arguments, name) for name in (*names, *places, "metrics_host")}
    if arguments.metrics_port is not None:  # else the environment may say one
        options["metrics_port"] = arguments.metrics_port
    options["num_workers"] = 0  # it has none itself, and it is not known which programs will attach
    return {**options, "nodes": arguments.nodes and arguments.nodes.split(",")}


def _print_keys() -> int:
    import zmq

    for name, key in zip(("PUBLIC", "SECRET"), zmq.curve_keypair(), strict=True):
        print(f"export PYPS_CURVE_{name}='{key.decode()}'")
    return 0


def _exit(number: int, _: object) -> None:
    sys.exit(128 + number)
