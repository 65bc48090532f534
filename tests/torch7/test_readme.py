"""The page beside the Lua packages names them all, quotes what stands in the files, and its own package works."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bridge

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "bridge" / "torch7"
TEXT = (PACKAGES / "README.md").read_text()
# By the file that each is of.
SNIPPETS = dict(re.findall(r"^ *```lua\n *-- (\S+)\n(.*?)^ *```", TEXT, re.MULTILINE | re.DOTALL))


def test_every_package_is_named_once() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)
    alone = re.search(r"\*\*Names alone\.\*\*(.*?)\n\n", TEXT, re.DOTALL)
    assert alone is not None
    behind = {"torch", "xlua", "paths"}  # what `env` stands for
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    named += [name for name in re.findall(r"`(\w+)`", alone[1]) if name not in behind | set(named)]
    assert sorted(named) == sorted(path.name for path in PACKAGES.iterdir() if path.is_dir())


def test_the_places_it_names_exist() -> None:
    named = set(re.findall(r"`((?:bridge|docs|tests)/[\w./]*)`", TEXT))
    named |= {f"bridge/torch7/{name}" for name in re.findall(r"`((?:torch|nn|cutorch)/[\w./]*)`", TEXT)}
    named.discard("tests/torch7/test_NAME.py")
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("file", [file for file in SNIPPETS if not file.startswith("moonphase")])
def test_what_it_quotes_stands_in_the_file(file: str) -> None:
    lines = [line.strip() for line in (PACKAGES / file).read_text().splitlines()]
    quoted = [line.strip() for line in SNIPPETS[file].splitlines()]
    assert any(lines[start : start + len(quoted)] == quoted for start in range(len(lines)))


def test_its_package_is_found_beside_python_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moonphase").mkdir()
    (tmp_path / "moonphase" / "init.lua").write_text(SNIPPETS["moonphase/init.lua"])
    monkeypatch.syspath_prepend(tmp_path)
    with bridge.Lua() as lua:
        lit = lua.eval("require('moonphase').lit(torch.Tensor{0, 29.53 / 4, 29.53 / 2})")
    np.testing.assert_allclose(lit, [0, 0.5, 1], atol=1e-12)
