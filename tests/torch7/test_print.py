"""Tensors and storages as text, exactly as Torch7 prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bridge

PRINTED = (Path(__file__).parents[1] / "data" / "torch7" / "PRINTED.txt").read_text(errors="replace")
ENTRY = re.compile(
    r"^=== ((?:tensor|storage|extreme|nc)_\w+) --[^\n]*\n"
    r"torch\.(\w+) (?:size=\{([\d,]*)\} stride=\S+ offset=\d+ )?values=\{([^}]*)\}\n"
    r"(.*?\[torch\.\w+ [^\]]*\])$",
    re.DOTALL | re.MULTILINE,
)
ENTRIES = {name: (kind, sizes, values, text) for name, kind, sizes, values, text in ENTRY.findall(PRINTED)}
LITERALS = {"inf": "1/0", "-inf": "-1/0", "nan": "0/0"}


@pytest.mark.parametrize("name", ENTRIES)
def test_printed_text_is_that_of_torch7(lua: bridge.Lua, name: str) -> None:
    kind, sizes, values, text = ENTRIES[name]
    list_ = "{" + ",".join(LITERALS.get(value, value) for value in values.split()) + "}"
    reshaped = f":resize({sizes})" if "," in sizes else ""
    assert lua.eval(f"tostring(torch.{kind}({list_}){reshaped})") == text + "\n"


def test_every_entry_of_the_file_is_compared() -> None:
    assert len(ENTRIES) == 54


EXPRESSIONS: list[tuple[str, str]] = [
    ("torch.Tensor{123456.5, 234567.5}", "100000 *\n 1.2346\n 2.3457\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{0.0012, 0.0034}", "0.001 *\n 1.2000\n 3.4000\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{0.12, 0.5}", " 0.1200\n 0.5000\n[torch.DoubleTensor of size 2]\n"),
    (
        "torch.Tensor{{1234565.5, 20}, {2345675, 123455}}",
        " 1.2346e+06  2.0000e+01\n 2.3457e+06  1.2346e+05\n[torch.DoubleTensor of size 2x2]\n",
    ),
    (
        "torch.Tensor{{1234567.5, 234567.5}, {3, 4}}:add(100000)",
        "1e+06 *\n  1.3346  0.3346\n  0.1000  0.1000\n[torch.DoubleTensor of size 2x2]\n",
    ),
    ("torch.Tensor{1/0, 0.5}", "         inf\n  5.0000e-01\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{1e10, 1}", " 1.0000e+10\n 1.0000e+00\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{1e100, 1}", "1.0000e+100\n 1.0000e+00\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{0/0, 1.5}", "nan\n1.500000\n[torch.DoubleTensor of size 2]\n"),
    ("torch.Tensor{{0/0, 1.5}}", "nan 1.500000\n[torch.DoubleTensor of size 1x2]\n"),
    ("torch.Tensor{1e-300, 0.5, 0/0}", "0.000000\n0.500000\nnan\n[torch.DoubleTensor of size 3]\n"),
    ("torch.Tensor{-0.0}", " 0\n[torch.DoubleTensor of size 1]\n"),
    ("torch.FloatTensor{{0.1, -2}}", " 0.1000 -2.0000\n[torch.FloatTensor of size 1x2]\n"),
    (
        "torch.Tensor(2,1,1,1):fill(0.25)",
        "(1,1,.,.) = \n  0.2500\n\n(2,1,.,.) = \n  0.2500\n[torch.DoubleTensor of size 2x1x1x1]\n",
    ),
]


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS)
def test_layouts(lua: bridge.Lua, expression: str, text: str) -> None:
    assert lua.eval(f"tostring({expression})") == text


def test_wide_matrices_wrap_at_80_columns(lua: bridge.Lua) -> None:
    row = " ".join([" 1.5000"] * 10)
    blocks = [f"Columns {k} to {k + 9}\n{row}\n" for k in (1, 11, 21)]
    text = "\n".join(blocks) + "[torch.DoubleTensor of size 1x30]\n"
    assert lua.eval("tostring(torch.Tensor(1,30):fill(1.5))") == text


def test_wide_slices_wrap_too(lua: bridge.Lua) -> None:
    first = " Columns 1 to 26\n " + " ".join([" 1"] * 26)
    last = "Columns 27 to 30\n " + " ".join([" 1"] * 4)
    text = f"(1,.,.) = \n{first}\n\n{last}\n[torch.DoubleTensor of size 1x1x30]\n"
    assert lua.eval("tostring(torch.ones(1,1,30))") == text


def test_print_shows_a_tensor_and_a_new_line(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute("print(torch.Tensor{1, 2})")
    assert capsys.readouterr().out == " 1\n 2\n[torch.DoubleTensor of size 2]\n\n"


def test_a_class_may_print_itself(lua: bridge.Lua) -> None:
    code = "local C = torch.class('Printed') function C:__tostring__() return 'me' end return tostring(Printed())"
    assert lua.execute(code) == "me"
