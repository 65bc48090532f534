"""A torch that cannot work is named at its first use, with the way out; what works is found out by .ci/versions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import bridge
from bridge import torch_support

ROOT = Path(__file__).parents[2]
USE = """
try:
    with bridge.Lua() as lua:
        print("worked", lua.execute("return ...", torch.ones(2)).tolist())
except ImportError as error:
    print(error)
"""
# Another library of torch's in the place of the one that has the symbols: its own are hidden from us.
HIDDEN = """
import pathlib, tempfile
directory = pathlib.Path(tempfile.mkdtemp())
(directory / "lib").mkdir()
(directory / "lib" / "libtorch_cpu.so").symlink_to(pathlib.Path(torch.__file__).parent / "lib" / "libc10.so")
torch.__file__ = str(directory / "__init__.py")
"""
# The newest table of a torch to come, which knows the one of today or does not.
NEWER = """
import ctypes
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p)]
today = get(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
table = Table(2, 0, {previous})
torch.Tensor.__dlpack_c_exchange_api__ = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
"""


def told(change: str) -> str:
    code = f"import torch, bridge\n{change}\n{USE}"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "torch.__version__ = '2.9.1+cu128'",
            ("torch 2.9.1+cu128 is too old", "torch >= 2.10", "pip install 'torch>=2.10'"),
        ),
        (
            "del torch.Tensor.__dlpack_c_exchange_api__",
            ("has no table", "__dlpack_c_exchange_api__", "torch 2.10 to"),
        ),
        (HIDDEN, ("has no aoti_torch_dtype_uint8", "torch 2.10 to", "newer moontide")),
        (NEWER.format(previous="None"), ("DLPack's major version 1", "torch 2.10 to")),
    ],
    ids=["too old", "no table", "hidden symbols", "another DLPack"],
)
def test_a_torch_that_cannot_work_is_named(change: str, words: tuple[str, ...]) -> None:
    said = told(change)
    for word in ("torch 2.", *words):
        assert word in said


def test_a_torch_without_an_operators_entry_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path(torch.__file__).parent / "lib" / "libc10.so"
    monkeypatch.setattr("bridge._boundary.load_torch", lambda: str(library))
    with bridge.Lua() as lua, pytest.raises(bridge.LuaError) as caught:
        lua.execute("require 'nn' nn.GatedLinearUnit():forward(torch.randn(2, 4))")
    assert isinstance(caught.value.original, ImportError)
    assert "torch 2." in str(caught.value)
    assert "it works with torch 2.10 to" in str(caught.value)


@pytest.mark.slow
def test_the_table_of_todays_dlpack_is_found_behind_a_newer_one() -> None:
    assert told(NEWER.format(previous="today")) == "worked [1.0, 1.0]"


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("2.10.0", (2, 10)),
        ("2.9.1+cu128", (2, 9)),
        ("2.15.0a0+git123", (2, 15)),
        ("3.0", (3, 0)),
        ("2.10rc1", (2, 10)),
    ],
)
def test_versions_compare_by_their_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert torch_support.numbers(version) == numbers


def test_the_versions_are_the_same_everywhere() -> None:
    declared = re.search(r'"torch>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert declared is not None
    assert declared.group(1) == torch_support.OLDEST
    tried = (ROOT / ".ci" / "versions").read_text()
    for version in (torch_support.OLDEST, torch_support.NEWEST):
        assert f"{version}.0" in tried
    assert f"torch {torch_support.OLDEST} is the oldest" in (ROOT / "README.md").read_text()
