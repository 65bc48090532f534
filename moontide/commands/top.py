"""Show what the nodes of a parameter server do, again and again.

An address is what the node prints as "attach to", for processes of its host and user, or where its metrics are,
http://HOST:PORT. Nodes that it knows to have metrics are shown too. In a terminal q or Ctrl-C ends it. What has /s is
counted for each second between two pictures: calls, the keys that they used and which share of these was in the node's
own memory, keys that came in and went out. The times are of the calls between the two that were timed: all that needed
another node, every 61st of the others.
"""

from __future__ import annotations

import argparse
import time
from itertools import count
from pathlib import Path

from moontide.errors import CommandError
from moontide.options import files, positive, seconds

HELP = "show what the nodes of a cluster do, live"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the nodes, how often and how long."""
    parser.add_argument(
        "address", nargs="+", metavar="ADDRESS", help="of a node, or of several that do not know each other"
    )
    parser.add_argument(
        "--interval",
        type=seconds,
        default=2.0,
        metavar="SECONDS",
        help="from one picture to the next (%(default)g)",
    )
    parser.add_argument("--count", type=positive, metavar="N", help="end after so many pictures")
    parser.add_argument(
        "--timeout", type=seconds, default=5.0, metavar="SECONDS", help="for reading a node (%(default)g)"
    )
    files(
        parser.add_argument(
            "--svg", type=Path, metavar="FILE", help="write the last picture as SVG at the end"
        )
    )


def run(arguments: argparse.Namespace) -> int:
    """Show pictures until the user wants no more of them."""
    from moontide.watching.cluster import Cluster
    from moontide.watching.picture import svg
    from moontide.watching.screen import screen
    from moontide.watching.tables import rates

    title, lines = "", list[str]()
    with Cluster(arguments.address, arguments.timeout) as cluster:
        before = cluster.read()
        try:
            with screen() as shown:
                for number in count(1):
                    if shown.wait(arguments.interval):
                        break
                    now = cluster.read()
                    title = f"moontide top  {time.strftime('%H:%M:%S')}  nodes: {len(now)}  q: quit"
                    lines, before = rates(before, now), now
                    shown.draw(title, lines)
                    if number == arguments.count:
                        break
        except KeyboardInterrupt:
            pass  # that is how one leaves
    if arguments.svg and lines:
        try:
            arguments.svg.write_text(svg(title, lines))
        except OSError as error:
            raise CommandError(f"--svg {arguments.svg}: {error.strerror}") from None
    return 0
