"""Files and directories as models and their versions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bridge.serve.engine.sources import Source, repository, stamp


def files(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_a_file_is_a_model_of_one_version(tmp_path: Path) -> None:
    files(tmp_path, "net.v2.t7")
    found = repository([tmp_path / "net.v2.t7"])
    assert found == {"net.v2": Source("net.v2", tmp_path / "net.v2.t7")}
    assert found["net.v2"].versions() == {"1": tmp_path / "net.v2.t7"}


def test_numbers_are_versions_in_the_order_of_numbers(tmp_path: Path) -> None:
    root = files(tmp_path / "net", "10/a.t7", "9/b.onnx", "007/c.lua", "beta/d.t7", "README.md")
    (source,) = repository([root]).values()
    assert source.name == "net"
    assert list(source.versions()) == ["007", "9", "10"]
    assert source.versions()["9"] == root / "9" / "b.onnx"


def test_a_version_has_one_file(tmp_path: Path) -> None:
    root = files(tmp_path / "net", "1/a.t7", "1/b.t7", "2/notes.txt", "3/a.t7", "3/notes.txt")
    assert list(Source("net", root).versions()) == ["3"]


def test_a_directory_holds_models_of_both_forms(tmp_path: Path) -> None:
    root = files(tmp_path, "a.t7", "b.lua", "notes.txt", "c/1/net.pt", "d/net.t7", "e.t7/1/x.t7")
    assert list(repository([root])) == ["a", "b", "c", "e.t7"]


def test_the_number_of_a_version_is_written_in_digits(tmp_path: Path) -> None:
    root = files(tmp_path, "-1/a.t7", "1.5/a.t7", "one/a.t7", "b.t7")
    assert list(repository([root])) == ["b"]


def test_two_models_of_one_name_are_told(tmp_path: Path) -> None:
    root = files(tmp_path, "x/net.t7", "y/net.lua")
    with pytest.raises(
        ValueError, match=re.escape(f"two models are called net: {root}/x/net.t7 and {root}/y")
    ):
        repository([root / "x", root / "y"])


def test_a_path_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file or directory"):
        repository([tmp_path / "none.t7"])
    assert repository([tmp_path]) == {}


def test_a_stamp_tells_a_change(tmp_path: Path) -> None:
    file = tmp_path / "a.t7"
    assert stamp(file) is None
    file.write_text("a")
    first = stamp(file)
    assert stamp(file) == first
    fresh = tmp_path / "fresh"
    fresh.write_text("b")
    fresh.replace(file)
    assert stamp(file) != first
