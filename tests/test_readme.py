"""The Python snippets of README and docs run as they stand, and the files that README names exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCS = [path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))]
SNIPPETS = re.findall(r"^```python\n(.*?)^```", "\n".join([README, *DOCS]), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.strip().splitlines()[-1].strip()[:40])
def test_a_snippet_runs(snippet: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", snippet],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_two_lines_are_the_two_commands() -> None:
    block = README.split("```", maxsplit=2)[1].splitlines()
    assert [line.split("  ")[0] for line in block[1:3]] == ["make demo", "make test"]


def test_the_places_it_names_exist() -> None:
    named = re.findall(r"`((?:bridge|pyps|luaps|moontide|benchmarks|examples|tests|docs)/[\w./]*)`", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
