"""Text and rectangles on pictures."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import bridge
from tests.torch7.image.pictures import KINDS, call


@pytest.mark.parametrize("kind", KINDS)
def test_a_rectangle_is_drawn_on_a_copy(lua: bridge.Lua, kind: str) -> None:
    x = numpy.zeros((3, 11, 14), KINDS[kind])
    made = call(lua, "drawRect", x, 3, 2, 8, 9, {"color": [0, 255, 0]})
    expected = numpy.zeros((11, 14))
    expected[1:9, 2:8] = 1
    expected[2:8, 3:7] = 0
    numpy.testing.assert_array_equal(made[1] > 0, expected > 0)
    assert made.max() == (255 if kind == "Byte" else 1)
    assert made[0].max() == made[2].max() == x.max() == 0


def test_text_is_drawn_in_cells_of_6_by_8(lua: bridge.Lua) -> None:
    x = numpy.zeros((3, 20, 20))
    made = call(lua, "drawText", x, "I\n-", 2, 1)
    assert made[0, 1:9, 2:8].sum() == 7 + 4
    assert made[0, 12, 2:8].tolist() == [1, 1, 1, 1, 1, 0]
    assert made[0].sum() == 16
    assert call(lua, "drawText", x, "xxxx" * 50, -3, -3, {"size": 2}).max() == 1
    assert call(lua, "drawText", x, " ", 1, 1, {"bg": [0, 0, 255]}).max() == 0


def drawn(lua: bridge.Lua, text: str, options: dict[str, Any] | None = None) -> list[str]:
    """The cell of a character, a string for each row."""
    x = numpy.zeros((3, 8, 7), numpy.uint8)
    made = call(lua, "drawText", x, text, 0, 0, {"wrap": False, **(options or {})})
    return ["".join(".#"[int(pixel > 0)] for pixel in row) for row in made[0, :, :6]]


CHARACTERS = {
    "2": ".###../#...#./....#./.###../#...../#...../#####./......",
    "A": "..#.../.#.#../#...#./#...#./#####./#...#./#...#./......",
    "M": "#...#./##.##./#.#.#./#.#.#./#.#.#./#...#./#...#./......",
    "a": "....../....../.##.../...#../.###../#..#../.####./......",
    "g": "....../....../.###../#..##./#..##./.##.#./....#./.###..",
    "y": "....../....../#...#./#...#./.####./....#./#...#./.###..",
    ":": "....../....../..#.../....../..#.../....../....../......",
    "\1": ".###../#####./#.#.#./#####./##.##./#...#./.###../......",  # not ASCII, but there is a picture of it
}


@pytest.mark.parametrize("character", CHARACTERS)
def test_characters(lua: bridge.Lua, character: str) -> None:
    assert "/".join(drawn(lua, character)) == CHARACTERS[character]


def test_every_byte_is_drawn(lua: bridge.Lua) -> None:
    code = """
        local blank = {}
        for byte = 1, 255 do
           local made = image.drawText(torch.zeros(3, 9, 30), string.char(byte) .. '.', 0, 0)
           if made:narrow(3, 1, 6):max() == 0 then
              table.insert(blank, byte)
           end
        end
        return table.concat(blank, ' ')
    """
    assert lua.execute(code) == "10 32 255"  # a return (13) takes no place


def test_text_ends_at_its_first_zero(lua: bridge.Lua) -> None:
    assert (
        lua.execute("return image.drawText(torch.zeros(3, 9, 30), 'a\\0b', 0, 0):narrow(3, 7, 20):max()") == 0
    )


def test_a_background_fills_the_cell(lua: bridge.Lua) -> None:
    x = numpy.zeros((3, 10, 10), numpy.uint8)
    made = call(lua, "drawText", x, "I", 1, 1, {"bg": [1, 2, 3], "color": [9, 9, 9]})
    assert made[:, 1, 1].tolist() == [1, 2, 3]
    assert (made[0] > 0).sum() == 48
    made = call(lua, "drawText", x, "I", 1, 1, {"bg": [1, -1, 3]})
    assert made[2].max() == 0


@pytest.mark.parametrize("kind", ["Float", "Double"])
def test_colours_are_divided_as_floats(lua: bridge.Lua, kind: str) -> None:
    made = call(lua, "drawRect", numpy.zeros((3, 5, 5), KINDS[kind]), 1, 1, 5, 5, {"color": [100.7, 3, 255]})
    assert made[:, 0, 0].tolist() == [
        float(numpy.float32(part) / numpy.float32(255)) for part in (100, 3, 255)
    ]


def test_a_thick_line_is_cut_at_the_border(lua: bridge.Lua) -> None:
    made = call(lua, "drawRect", numpy.zeros((3, 12, 12), numpy.uint8), 1, 1, 10, 9, {"lineWidth": 3})
    rows = (made[0] > 0).astype(int).tolist()
    assert rows[3] == [1, 1] + [0] * 6 + [1, 1, 1, 0]
    assert [row[5] for row in rows] == [1, 1] + [0] * 5 + [1, 1, 1, 0, 0]
