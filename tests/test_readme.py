"""README is short and begins with two commands; snippets of README and docs/ run; the places that pages name exist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forks import Forks, forks
from tests.pages import PAGES, ROOT, blocks

README = (ROOT / "README.md").read_text()
SNIPPETS = [snippet for page in PAGES for snippet in blocks(page, "python")]


@pytest.fixture(scope="module")
def with_torch() -> Iterator[Forks]:
    with forks() as process:
        yield process


def run_alone(program: str, *, cwd: Path, timeout: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout,
    )


@pytest.mark.long
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.strip().splitlines()[-1].strip()[:40])
def test_a_snippet_runs(snippet: str, with_torch: Forks, tmp_path: Path) -> None:
    run = with_torch.run if "torch" in snippet else run_alone  # the others show that they do not need it
    done = run(snippet, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_two_lines_are_the_two_commands() -> None:
    block = README.split("```", maxsplit=2)[1].splitlines()
    assert [line.split("  ")[0] for line in block[1:3]] == ["make demo", "make test"]


def test_it_is_read_in_some_minutes() -> None:
    assert len(README.splitlines()) <= 200


@pytest.mark.parametrize("page", ["README.md", "docs/layout.md", "CONTRIBUTING.md"])
def test_the_places_that_a_page_names_exist(page: str) -> None:
    places = r"`((?:bridge|pyps|luaps|moontide|benchmarks|examples|tests|docs|deploy)/[\w./]*)`"
    named = re.findall(places, (ROOT / page).read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
