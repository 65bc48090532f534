"""python2torch's README session, and what it lacked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bridge

MAH_STUFF = """
function Hello()
   print "Is it me you're looking for?"
end

function DoIt(i, f, s, list, tensor)
   print(i) print(f) print(s)
   for position, item in ipairs(list) do print(position, item) end
   print(tensor:type(), tensor:size())
   return torch.linspace(1, 10, 10)
end

function Back(...) return ... end
"""


@pytest.fixture
def torch_object(tmp_path: Path) -> bridge.PyTorch:
    path = tmp_path / "mah_stuff.lua"
    path.write_text(MAH_STUFF)
    return bridge.PyTorch(path)


def test_the_session(torch_object: bridge.PyTorch, capsys: pytest.CaptureFixture[str]) -> None:
    with torch_object as torch:
        assert torch.Hello() == []
        assert capsys.readouterr().out == "Is it me you're looking for?\n"
        (result,) = torch.DoIt(1, 3.14159, "boom", ["easy", "as", 123], np.random.randn(10))
    assert result.tolist() == list(range(1, 11))
    assert capsys.readouterr().out.splitlines() == [
        "1",
        "3.14159",
        "boom",
        "1\teasy",
        "2\tas",
        "3\t123",
        "torch.DoubleTensor\t 10",
        "[torch.LongStorage of size 1]",
        "",
    ]


def test_dir_lists_the_functions(torch_object: bridge.PyTorch) -> None:
    with torch_object as torch:
        assert {"Hello", "DoIt", "Back", "print", "pcall"} <= set(dir(torch))
        assert "Hello" in torch.function_names


def test_results_are_always_a_list(torch_object: bridge.PyTorch) -> None:
    with torch_object as torch:
        assert torch.Back() == []
        assert torch.Back(None) == [None]
        assert torch.Back(1, "x") == [1, "x"]


def test_none_and_dicts_pass(torch_object: bridge.PyTorch) -> None:
    with torch_object as torch:
        assert torch.Back(None, {"a": {"b": 1}}) == [None, {"a": {"b": 1}}]


def test_tables_come_back_as_dicts_with_luas_keys(torch_object: bridge.PyTorch) -> None:
    with torch_object as torch:
        assert torch.Back([7, 8]) == [{1: 7, 2: 8}]


def test_a_non_contiguous_tensor_comes_back(torch_object: bridge.PyTorch) -> None:
    array = np.arange(6.0).reshape(2, 3)
    with torch_object as torch:
        (result,) = torch.Back(array.T)
    assert np.array_equal(result, array.T)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        bridge.PyTorch("nowhere.lua")


def test_a_missing_function_is_named(torch_object: bridge.PyTorch) -> None:
    with torch_object as torch, pytest.raises(AttributeError, match="Nope"):
        torch.Nope()
