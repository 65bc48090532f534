"""The documentation builds without a warning, has every public name, needs no network, and its snippets run."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.python_path import python_path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LUA = [
    pytest.param(snippet, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, snippet in enumerate(re.findall(r"^```lua\n(.*?)^```", page.read_text(), re.M | re.S))
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", DOCS, place],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, "PYTHONPATH": python_path()},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return place


@pytest.mark.parametrize("name", ["bridge", "bridge.serve", "pyps", "pyps.lapse", "pyps.adapm"])
def test_every_public_name_is_in_the_reference(site: Path, name: str) -> None:
    text = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    there = set(re.findall(r'id="([\w.]+)"', text))
    module = importlib.import_module(name)
    wanted = {f"{name}.{one}" for one in module.__all__}
    modules = {one for one in wanted if isinstance(getattr(module, one.rpartition(".")[2]), ModuleType)}
    assert sorted(wanted - modules - there) == []


def test_every_function_of_luaps_is_in_the_reference(site: Path) -> None:
    text = (site / "reference" / "luaps.html").read_text()
    names = set()
    for file in (ROOT / "luaps").glob("*.lua"):
        names |= set(re.findall(r"^function (?:luaps|Worker|Node|Future)[.:](\w+)", file.read_text(), re.M))
    missing = [
        name for name in sorted(names) if not name.startswith("_") and not re.search(rf"[.:]{name}\(", text)
    ]
    assert missing == []
    assert len(names) > 20


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text())
        assert loaded == [], page.name


@pytest.mark.parametrize("snippet", LUA)
def test_a_lua_snippet_runs_in_a_plain_luajit(snippet: str, tmp_path: Path) -> None:
    luajit = shutil.which("luajit")
    assert luajit, "luajit is missing (Debian: apt-get install luajit)"
    (tmp_path / "program.lua").write_text(snippet)
    done = subprocess.run(
        [luajit, "program.lua"],
        cwd=tmp_path,
        env={**os.environ, "LUA_PATH": f"{ROOT}/?.lua;{ROOT}/?/init.lua;;"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
