"""Fail if a test was skipped, and end with one line of totals: `report.py junit.xml`."""

from __future__ import annotations

import sys
from xml.etree import ElementTree


def main(path: str) -> int:
    """Print what was skipped and the totals; return 1 unless every test ran and passed."""
    suites = list(ElementTree.parse(path).getroot().iter("testsuite"))
    totals = {
        key: sum(int(suite.get(key, "0")) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    }
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        for skipped in case.iter("skipped"):
            print(f"SKIPPED {case.get('classname')}::{case.get('name')}: {skipped.get('message')}")
    seconds = sum(float(suite.get("time", "0")) for suite in suites)
    bad = totals["failures"] + totals["errors"]
    passed = totals["tests"] - bad - totals["skipped"]
    parts = (
        [f"{bad} failed"] * bool(bad)
        + [f"{passed} passed"]
        + [f"{totals['skipped']} skipped"] * bool(totals["skipped"])
    )
    if totals["skipped"]:
        print("a skipped test is a failure here: install what it asks for in .ci/run")
    print(f"===== {', '.join(parts)} in {seconds:.2f}s =====")
    return int(bad > 0 or totals["skipped"] > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
