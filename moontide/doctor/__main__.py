"""One check, in a process of its own: its finding as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict

from moontide.doctor.checks import CHECKS
from moontide.doctor.finding import Finding


def main(name: str) -> None:
    """Print what a check finds; what it raises is told in one line, and whole on stderr."""
    try:
        finding = CHECKS[name]()
    except Exception as error:
        traceback.print_exc()
        first = (str(error).strip().splitlines() or ["no message"])[0]
        finding = Finding(state="broken", detail=f"{type(error).__name__}: {first}")
    print(json.dumps(asdict(finding)))


if __name__ == "__main__":
    main(sys.argv[1])
