"""Print what nodes of a parameter server hold and have counted, and how long operations took.

An address is what the node prints as "attach to", for processes of its host and user, or where its metrics are,
http://HOST:PORT. Nodes that it knows to have metrics are read too.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from moontide.options import seconds

HELP = "print the statistics of the nodes of a cluster, once"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the nodes, and the form."""
    parser.add_argument(
        "address", nargs="+", metavar="ADDRESS", help="of a node, or of several that do not know each other"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, on one line")
    parser.add_argument(
        "--timeout", type=seconds, default=5.0, metavar="SECONDS", help="for each node (%(default)g)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one reading of each; the status is 1 if one of them cannot be read."""
    from moontide.watching.cluster import Cluster, Missing
    from moontide.watching.tables import totals

    with Cluster(arguments.address, arguments.timeout) as cluster:
        found = cluster.read()
    missing = [one for one in found if isinstance(one, Missing)]
    if arguments.json:
        read = [one.as_json() for one in found if not isinstance(one, Missing)]
        print(json.dumps({"nodes": read, "missing": [asdict(one) for one in missing]}))
    else:
        print(*totals(found), sep="\n")
    return 1 if missing else 0
