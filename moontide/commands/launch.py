"""Start a program as all nodes of a cluster on this machine, and as further workers of each if asked.

The program finds its place by `pyps.init(num_keys, value_length)`; torch.distributed's "env://" works too. A line
that it writes is printed behind its node's name. When one process fails the others are ended, unless they are to
keep going, and its status is returned; with Ctrl-C all are. Nothing stays behind, also when this command is killed.
"""

from __future__ import annotations

import argparse

from moontide.options import files, positive

HELP = "start a program as all nodes and workers of a local cluster"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the cluster's size, the program and what it is given."""
    parser.add_argument("-n", "--nodes", type=positive, default=2, help="how many nodes (%(default)s)")
    parser.add_argument(
        "--workers-per-node",
        type=positive,
        default=1,
        metavar="K",
        help="processes per node: the first creates it, the others attach to it (%(default)s)",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="when a process fails let the others go on, for programs with on_loss='continue'",
    )
    parser.add_argument(
        "--metrics-port",
        type=int,
        metavar="PORT",
        help="node N tells its statistics over HTTP at PORT + N of the loopback; 0: at free ports",
    )
    files(parser.add_argument("script", help="a Python file, or any other program"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the program")


def run(arguments: argparse.Namespace) -> int:
    """Run all processes to their end; the status is that of the first that failed."""
    from moontide.launch.run import launch

    return launch(
        arguments.nodes,
        arguments.workers_per_node,
        arguments.script,
        arguments.arguments,
        keep_going=arguments.keep_going,
        metrics_port=arguments.metrics_port,
    )
