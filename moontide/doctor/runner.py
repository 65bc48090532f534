"""Runs checks, each in a process of its own: a part that ends or hangs its process is a finding, not the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from moontide.doctor.finding import Finding

REPORT = "tell us, with the output of `moontide doctor --json`"


def findings(names: Iterable[str], *, timeout: float) -> Iterator[tuple[str, Finding]]:
    """Yield each name with what was found, in their order, as soon as it is known.

    Parameters
    ----------
    names : iterable of str
        Of `moontide.doctor.checks.CHECKS`.
    timeout : float
        Seconds for one check.
    """
    names = list(names)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(names, pool.map(lambda name: _found(name, timeout), names), strict=True)


def _found(name: str, timeout: float) -> Finding:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "moontide.doctor", name],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding(state="broken", detail=f"no answer within {timeout:g} s", remedy=REPORT)
    if done.returncode < 0:
        ended = signal.Signals(-done.returncode).name
        return Finding(state="broken", detail=f"the check's process was ended by {ended}", remedy=REPORT)
    if done.returncode > 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        return Finding(state="broken", detail=lines[-1])
    return Finding(**json.loads(done.stdout.splitlines()[-1]))
