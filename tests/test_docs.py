"""The documentation builds without a warning, has every public name, needs no network; snippets and notebooks run."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.python_path import python_path
from tests.system import read

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
LUA = [
    pytest.param(snippet, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, snippet in enumerate(re.findall(r"^```lua\n(.*?)^```", page.read_text(), re.M | re.S))
]
PATIENCE = 220  # seconds that building all pages may take

pytestmark = [pytest.mark.long, pytest.mark.timeout(PATIENCE + 20)]


def build(source: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Build the pages of a directory as the documentation's into place/site; place/tmp is for temporary files."""
    (place / "tmp").mkdir()
    options = ["-q", "-T", "-W", "--keep-going", "-b", "html", "-c", str(DOCS)]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, source, place / "site"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONPATH": python_path(), "TMPDIR": str(place / "tmp")},
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs")
    done = build(DOCS, place)
    assert (done.returncode, done.stderr) == (0, "")
    return place


@pytest.fixture
def site(place: Path) -> Path:
    return place / "site"


@pytest.mark.parametrize(
    "name",
    [
        "bridge",
        "bridge.serve",
        "bridge.spark",
        "pyps",
        "pyps.checkpoint",
        "pyps.lapse",
        "pyps.data",
        "pyps.nn",
        "pyps.adapm",
        "pyps.optim",
        "pyps.ray",
        "pyps.spark",
        "pyps.wholememory",
    ],
)
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
        names |= set(
            re.findall(r"^function (?:luaps|Worker|Node|Future|Distributed)[.:](\w+)", file.read_text(), re.M)
        )
    missing = [
        name for name in sorted(names) if not name.startswith("_") and not re.search(rf"[.:]{name}\(", text)
    ]
    assert missing == []
    assert len(names) > 20


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text())
        assert loaded == [], page.name


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_stored_as_it_was_before_it_ran(notebook: Path) -> None:
    content = json.loads(notebook.read_text())
    cells = content.pop("cells")
    assert content == {"metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert {key for cell in cells for key in cell["metadata"]} <= {"mystnb"}
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_the_page_of_a_notebook_has_what_its_cells_gave(notebook: Path, site: Path) -> None:
    page = (site / "notebooks" / notebook.name).with_suffix(".html").read_text()
    pictures = re.findall(r'<img alt="([^"]*)" src="\.\./_images/[^"]*\.png"', page)
    assert len(pictures) >= 2
    assert [text for text in pictures if text.startswith("../")] == []  # where nothing says what it shows
    assert 'class="output stream' in page
    assert 'class="output traceback' not in page


def test_running_the_notebooks_leaves_nothing_behind(place: Path) -> None:
    mark = str(place / "tmp")
    processes = [path for path in Path("/proc").glob("[0-9]*/environ") if mark in read(path)]
    assert (processes, list((place / "tmp").iterdir())) == ([], [])
    assert sorted((DOCS / "notebooks").iterdir()) == NOTEBOOKS


def test_a_cell_that_fails_fails_the_build(tmp_path: Path) -> None:
    notebook = json.loads(NOTEBOOKS[0].read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] in ("title", "imports")]
    notebook["cells"][-1]["source"] = "assert 1 + 1 == 3"
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "index.ipynb").write_text(json.dumps(notebook))
    done = build(tmp_path / "source", tmp_path)
    assert done.returncode != 0
    assert "AssertionError" in done.stderr
    assert not (tmp_path / "site" / "index.html").exists()


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
