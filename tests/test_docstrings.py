"""The examples in docstrings, which the documentation shows, run and give what stands below them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge
from tests.forks import Forks, forks

ROOT = Path(__file__).parents[1]
FILES = [path for name in ("bridge", "pyps", "moontide") for path in sorted((ROOT / name).rglob("*.py"))]
MODULES = [
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
    for path in FILES
    if ">>> " in path.read_text()
]
RUN = """
import doctest, importlib, sys
import numpy, torch
module = importlib.import_module(sys.argv[1])
found = doctest.testmod(module, extraglobs={"np": numpy, "torch": torch})
sys.exit(found.failed > 0 or found.attempted == 0)
"""


@pytest.fixture(scope="module")
def with_torch() -> Iterator[Forks]:
    with forks() as process:
        yield process


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module: str, with_torch: Forks, tmp_path: Path) -> None:
    with bridge.Lua() as lua:  # what they call "model.t7"
        lua.execute("require 'nn' torch.save(..., nn.Linear(4, 3))", str(tmp_path / "model.t7"))
    done = with_torch.run(RUN, module, cwd=tmp_path, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
