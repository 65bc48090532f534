"""The simulations catch deliberate defects; all of them: python -m tests.native.defects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native import defects
from tests.pyps.native import native
from tests.soak import HAS_ALL_ROWS


def test_the_text_of_every_defect_stands_once_in_its_file(tmp_path: Path) -> None:
    rows = defects.read_defects()
    assert len(rows) >= 30
    for row in rows:
        source = (defects.ROOT / "pyps/core" / row.file).read_text()
        copy = tmp_path / "pyps/core" / row.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source)
        row.make(tmp_path)
        assert copy.read_text() != source


def test_a_defect_whose_text_is_gone_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pyps/core/requests/gone.cpp"
    path.parent.mkdir(parents=True)
    path.write_text("left += 1;\n")
    row = defects.Defect(
        breaks="nothing any more", file="requests/gone.cpp", text="left -= 1;", replacement=""
    )
    with pytest.raises(LookupError, match=r"requests/gone\.cpp has 0 times, not once: 'left -= 1;'"):
        row.make(tmp_path)


@native
def test_some_defects_are_caught() -> None:
    """Before that, 1,500 seeds of each simulation find nothing wrong with the sources as they are."""
    tree = defects.ROOT / "build/some-defects"
    defects.prepare(tree)
    usual = [row for row in defects.read_defects() if not row.rare]
    for row in usual[:: 20 if HAS_ALL_ROWS else 42]:
        assert defects.attempt(row, tree) is not None, row.breaks
