"""Try what Moontide stands on, on this machine, and say what to do about the rest.

The status is 1 if something does not work that nothing works without. What is "absent" not everybody needs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

TIMEOUT = 60.0  # seconds for one check: torch alone takes several on a slow disk
HELP = "tell what works here and what to do about the rest"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the form of the report, and how long to wait."""
    parser.add_argument("--json", action="store_true", help="print JSON, when all is known")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT, metavar="S", help="seconds for one check (%(default)g)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each check, and one for what to do."""
    from moontide.doctor.checks import CHECKS
    from moontide.doctor.runner import findings

    broken = False
    report = []
    width = max(map(len, CHECKS))
    for name, finding in findings(CHECKS, timeout=arguments.timeout):
        broken = broken or finding.state == "broken"
        report.append({"part": name, **asdict(finding)})
        if not arguments.json:
            print(f"{name:<{width}}  {finding.state:<7}  {finding.detail}", flush=True)
            if finding.remedy:
                print(f"{'':<{width + 9}}  -> {finding.remedy}", flush=True)
    if arguments.json:
        print(json.dumps(report, indent=2))
    return 1 if broken else 0
