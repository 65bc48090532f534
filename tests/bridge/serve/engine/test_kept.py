"""A file that was opened can be read again under its name, whatever became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.serve.engine.kept import Kept


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "beside.lua").write_text("beside")
    (tmp_path / "net.t7").write_text("old")
    return tmp_path / "net.t7"


def test_a_file_that_is_the_same_is_read_where_it_is(file: Path) -> None:
    kept = Kept(file)
    assert kept.path() == file
    kept.close()


def test_a_file_that_was_replaced_or_removed_is_read_by_its_name(file: Path) -> None:
    kept = Kept(file)
    fresh = file.with_name("fresh")
    fresh.write_text("new")
    fresh.replace(file)
    held = kept.path()
    assert (held.name, held.read_text()) == ("net.t7", "old")
    assert held.with_name("beside.lua").read_text() == "beside"
    file.unlink()
    assert kept.path() == held
    assert held.read_text() == "old"
    kept.close()
    assert not held.parent.exists()
    assert kept.path() == file


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.t7"):
        Kept(tmp_path / "none.t7")
