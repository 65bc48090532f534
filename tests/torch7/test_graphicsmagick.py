"""graphicsmagick: pictures as objects, measured against Pillow and numpy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bridge


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("gm = require 'graphicsmagick'")
        yield state


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (5, 7, 3)).astype(np.uint8)


@pytest.fixture
def file(tmp_path: Path, pixels: np.ndarray) -> str:
    path = tmp_path / "picture.png"
    Image.fromarray(pixels).save(path)
    return str(path)


def test_a_tensor_has_the_channels_and_dimensions_asked_for(
    lua: bridge.Lua, file: str, pixels: np.ndarray
) -> None:
    lua.execute("picture = gm.Image(...)", file)
    assert lua.eval("table.concat({picture:size()}, 'x')") == "7x5"
    assert np.array_equal(lua.eval("picture:toTensor()"), pixels)
    assert np.array_equal(
        lua.eval("picture:toTensor('byte', 'BGR', 'DHW')"), pixels[..., ::-1].transpose(2, 0, 1)
    )
    single = lua.eval("picture:toTensor('float', 'RA', 'HWD')")
    assert single.dtype == np.float32
    assert np.allclose(single[..., 0], pixels[..., 0] / 255)
    assert (single[..., 1] == 1).all()
    grey = lua.eval("picture:toTensor('double', 'I', 'DHW')")
    assert np.abs(grey[0] * 255 - np.asarray(Image.fromarray(pixels).convert("L"))).max() <= 1


@pytest.mark.parametrize(("method", "axis"), [("flip", 0), ("flop", 1)])
def test_methods_change_the_picture_and_can_be_chained(
    lua: bridge.Lua, file: str, pixels: np.ndarray, method: str, axis: int
) -> None:
    turned = lua.execute(f"return gm.Image(...):{method}():negate():toTensor('byte')", file)
    assert np.array_equal(turned, 255 - np.flip(pixels, axis))


def test_a_size_is_exact_or_a_limit_of_one_side(lua: bridge.Lua, file: str, pixels: np.ndarray) -> None:
    sizes = lua.execute(
        """
        local function size(...) return {gm.Image(file):size(...):size()} end
        file = ... return {size(4, 9), size(14), size(nil, 10)}
        """,
        file,
    )
    assert sizes == [[4, 9], [14, 10], [14, 10]]
    smaller = lua.eval("gm.Image(file):size(4, 3):toTensor('byte')")
    assert np.array_equal(
        smaller, np.asarray(Image.fromarray(pixels).resize((4, 3), Image.Resampling.LANCZOS))
    )


def test_a_crop_is_cut_at_the_picture(lua: bridge.Lua, file: str, pixels: np.ndarray) -> None:
    assert np.array_equal(
        lua.execute("return gm.Image(...):crop(3, 2, 1, 2):toTensor()", file), pixels[2:4, 1:4]
    )
    assert np.array_equal(
        lua.execute("return gm.Image(...):crop(9, 9, 5, 4):toTensor()", file), pixels[4:, 5:]
    )
    with pytest.raises(bridge.LuaError, match=r"3 x 2 at \(7, 0\) is outside of a picture of 7 x 5"):
        lua.execute("gm.Image(...):crop(3, 2, 7, 0)", file)


def test_tensors_become_files_and_strings(lua: bridge.Lua, tmp_path: Path, pixels: np.ndarray) -> None:
    path = tmp_path / "out.bmp"
    lua.execute(
        "gm.Image(select(2, ...), 'RGB', 'DHW'):save((...))", str(path), pixels.transpose(2, 0, 1) / 255
    )
    with Image.open(path) as picture:
        assert picture.format == "BMP"
        assert np.array_equal(np.asarray(picture), pixels)
    again = lua.execute(
        "return gm.Image():fromString(gm.Image(...):format('PNG'):toString()):toTensor()", pixels
    )
    assert np.array_equal(again, pixels)


def test_a_hint_makes_a_large_jpeg_load_smaller_but_never_below_it(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    Image.new("RGB", (800, 600), (200, 30, 40)).save(path)
    width, height = lua.execute("return gm.Image():load(..., 90, 90):size()", str(path))
    assert 90 <= height < 600
    assert 90 <= width < 800


def test_info_and_convert_work_on_files(lua: bridge.Lua, file: str, tmp_path: Path) -> None:
    out = str(tmp_path / "small.jpg")
    lua.execute("gm.convert{input = (...), output = select(2, ...), size = '14x14', quality = 90}", file, out)
    assert lua.execute("return gm.info(...)", out) == {"width": 14, "height": 10, "format": "JPEG"}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("gm.Image('/no/such.png')", "error loading image: /no/such.png: FileNotFoundError"),
        ("gm.Image():fromString('no picture')", "error loading image: <blob>: UnidentifiedImageError"),
        ("gm.Image():toTensor()", "nothing is loaded yet"),
        ("gm.Image(torch.rand(4, 4, 3)):toTensor('float', 'LAB')", "no channel 'L'"),
        ("gm.Image(torch.rand(4, 4, 3)):toTensor('int')", "unknown data type int"),
        ("gm.Image(torch.rand(4, 4, 3)):size(2, 2, 'Best')", "no filter 'Best'"),
        ("gm.Image(torch.rand(4, 4, 3)):save('/tmp/x.nothing')", "error saving image: KeyError"),
        ("gm.Image(torch.rand(4, 4, 2))", "2 channels do not go with 'nil'"),
        ("gm.convert{input = 'a', output = 'b', rotate = 3}", "unknown option 'rotate'"),
    ],
)
def test_what_is_wrong_is_said(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(code)
