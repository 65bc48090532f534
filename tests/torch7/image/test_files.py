"""Picture files, against Pillow."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from PIL import Image

import bridge
from tests.torch7.image.pictures import KINDS, call, near, picture


@pytest.mark.parametrize("suffix", ["png", "PNG", "ppm", "jpg", "jpeg"])
@pytest.mark.parametrize("kind", KINDS)
def test_pillow_reads_what_is_saved(lua: bridge.Lua, tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"picture.{suffix}"
    x = numpy.tile(numpy.linspace(0, 255, 32).astype(numpy.uint8), (3, 24, 1))
    given = x if kind == "Byte" else (x / 255).astype(KINDS[kind])
    call(lua, "save", str(path), given)
    with Image.open(path) as opened:
        stored = numpy.array(opened).transpose(2, 0, 1)
    assert numpy.abs(stored.astype(int) - x).max() <= (6 if suffix.startswith("j") else 0)
    numpy.testing.assert_array_equal(call(lua, "load", str(path), 3, "byte"), stored)
    numpy.testing.assert_allclose(call(lua, "load", str(path), 3, "float"), stored / 255, atol=1e-6)
    assert list(call(lua, "getSize", str(path))) == [3, 24, 32]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"])
def test_every_kind_of_png(lua: bridge.Lua, tmp_path: Path, mode: str) -> None:
    path = str(tmp_path / "x.png")
    grey = Image.fromarray(picture("Byte", channels=1)[0])
    source = (
        Image.fromarray(numpy.arange(154, dtype=numpy.uint16).reshape(11, 14) * 400)
        if mode == "I;16"
        else grey.convert(mode)
    )
    source.save(path)
    channels = {"LA": 2, "RGB": 3, "RGBA": 4, "P": 3}.get(mode, 1)
    made = call(lua, "load", path)
    assert made.shape == (channels, 11, 14)
    assert made.dtype == numpy.float64
    if mode == "I;16":
        numpy.testing.assert_allclose(made[0].ravel(), numpy.arange(154) * 400 / 65535, atol=1e-9)
    elif mode == "L":
        numpy.testing.assert_allclose(made[0] * 255, numpy.array(grey), atol=1e-9)
    assert call(lua, "load", path, 1).shape[-2:] == (11, 14)
    if mode == "LA":
        with pytest.raises(bridge.LuaError, match=r"<image\.todepth> image loaded has wrong #channels"):
            call(lua, "load", path, 3)
    else:
        assert call(lua, "load", path, 3, "byte").shape == (3, 11, 14)


def test_a_coloured_picture_of_depth_1_has_two_dimensions(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "x.png")
    x = picture("Byte")
    call(lua, "save", path, x)
    near(call(lua, "load", path, 1, "byte"), call(lua, "rgb2y", x)[0])


def test_a_loader_of_one_format_refuses_another(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "x.png")
    call(lua, "save", path, picture())
    assert list(call(lua, "getPNGsize", path)) == [3, 11, 14]
    for name in ("getJPGsize", "loadJPG"):
        with pytest.raises(bridge.LuaError, match="Not a JPEG file: starts with 0x89 0x50"):
            call(lua, name, path)
    for name in ("getPPMsize", "loadPPM"):
        with pytest.raises(bridge.LuaError, match="corrupted file"):
            call(lua, name, path)


@pytest.mark.slow
def test_pillow_is_loaded_with_the_first_file() -> None:
    code = """
import sys, bridge
with bridge.Lua() as lua:
    lua.execute("image = require 'image'; image.scale(torch.rand(3, 3), 2, 2)")
    assert "PIL" not in sys.modules
    lua.execute("image.fabio()")
    assert "PIL" in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_the_content_counts_not_the_name(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    Image.new("RGB", (4, 3), (1, 2, 3)).save(path, format="PNG")
    assert call(lua, "load", str(path), 3, "byte")[:, 0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["PNG", "JPG"])
def test_memory_holds_what_a_file_would(lua: bridge.Lua, name: str) -> None:
    x = picture("Byte")
    content = call(lua, f"compress{name}", x)
    with Image.open(io.BytesIO(content.tobytes())) as opened:
        expected = numpy.array(opened).transpose(2, 0, 1)
    numpy.testing.assert_array_equal(call(lua, f"decompress{name}", content, 3, "byte"), expected)
    numpy.testing.assert_array_equal(call(lua, "decompress", content, 3, "byte"), expected)


def test_quality_makes_a_jpeg_smaller(lua: bridge.Lua) -> None:
    x = picture("Byte", height=64, width=64)
    assert (
        len(call(lua, "compressJPG", x, 10))
        < len(call(lua, "compressJPG", x))
        < len(call(lua, "compressJPG", x, 100))
    )


def test_grey_is_saved_as_pgm(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.pgm"
    x = picture("Byte", channels=1)
    call(lua, "save", str(path), x[0])
    assert path.read_bytes()[:2] == b"P5"
    numpy.testing.assert_array_equal(call(lua, "load", str(path), 1, "byte"), x)
    path.write_text("P2\n2 1\n255\n7 200\n")
    assert call(lua, "load", str(path), 1, "byte").tolist() == [[[7, 200]]]


def test_there_is_always_a_picture(lua: bridge.Lua) -> None:
    assert call(lua, "lena").shape == (3, 512, 512)
    assert call(lua, "fabio").shape == (512, 512)


def test_display_writes_a_file(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "shown.png"
    win = call(lua, "display", {"image": picture(), "zoom": 2, "file": str(path)})
    assert win["file"] == str(path)
    with Image.open(path) as shown:
        assert shown.size == (28, 22)
    with pytest.raises(bridge.LuaError, match="needs Qt"):
        call(lua, "window")


def test_the_package_tests_itself(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    call(lua, "test")
    assert "0 failures and 0 errors" in capsys.readouterr().out


def test_tensors_have_the_compiled_functions(lua: bridge.Lua) -> None:
    x = picture("Float")
    made = lua.execute(
        "local out = torch.FloatTensor(3, 5, 6); local x = ...; x.image.scaleBilinear(x, out); return out", x
    )
    near(made, call(lua, "scale", x, 6, 5))


@pytest.mark.parametrize("kind", ["torch.CudaTensor", "torch.LongTensor", "torch.FloatTensor"])
@pytest.mark.parametrize("suffix", ["png", "jpg", "ppm"])
def test_pictures_are_of_the_default_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, suffix: str
) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "cpu")
    path = tmp_path / f"x.{suffix}"
    with bridge.Lua() as state:
        state.execute("require 'cutorch'; require 'image'")
        state.execute("image.save(...)", str(path), numpy.ones((3, 4, 5)))
        state.execute("torch.setdefaulttensortype(...)", kind)
        made = state.execute("local x = image.load(...); return x:type(), x:size(1), x:min()", str(path))
    assert made == (kind, 3, 1)
