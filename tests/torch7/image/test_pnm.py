"""PPM and PGM files."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

import bridge
from tests.torch7.image.pictures import call, picture


def loaded(lua: bridge.Lua, tmp_path: Path, content: bytes, kind: str = "byte") -> list[object]:
    path = tmp_path / "x.ppm"
    path.write_bytes(content)
    return call(lua, "load", str(path), None, kind).tolist()


@pytest.mark.parametrize(
    ("content", "pixels"),
    [
        (b"P5\n3 1\n255\n\x01\x02\xff", [[[1, 2, 255]]]),
        (b"P5 3 1 100 \x01\x02\x64", [[[1, 2, 100]]]),  # bytes are taken as they are
        (b"P6\n# made\n1 2 # here\n255\nabcdef", [[[97], [100]], [[98], [101]], [[99], [102]]]),
        (b"P2\n2 1\n100\n50 100\n", [[[127, 255]]]),  # text is scaled to 255
        (b"P3\n1 1\n255\n  7\t8\n9", [[[7]], [[8]], [[9]]]),
        (b"P5,2,1,255,\x05\x06", [[[5, 6]]]),
    ],
)
def test_pixels(lua: bridge.Lua, tmp_path: Path, content: bytes, pixels: object) -> None:
    assert loaded(lua, tmp_path, content) == pixels


def test_of_two_bytes_the_first_is_the_lower(lua: bridge.Lua, tmp_path: Path) -> None:
    made = loaded(lua, tmp_path, b"P5\n2 1\n1023\n\x01\x02\x00\x01", "double")
    numpy.testing.assert_allclose(made, [[[513 / 255, 256 / 255]]], rtol=1e-15)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"P4\n8 1\n\xff", "unsupported magic number: P4"),
        (b"P1\n2 1\n0 1", "unsupported magic number: P1"),
        (b"xx", "corrupted file"),
        (b"", "corrupted file"),
        (b"P6\n", "corrupted file"),
        (b"P5\n2 2\n255\nabc", "corrupted file or read error"),
        (b"P2\n2 1\n255\n7", "corrupted file or read error"),
        (b"P2\n2 1\n255\n7 x", "corrupted file or read error"),
        (b"P5\n100000 100000\n255\nabc", "corrupted file or read error"),
    ],
)
def test_damage(lua: bridge.Lua, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.ppm"
    path.write_bytes(content)
    with pytest.raises(bridge.LuaError) as raised:
        call(lua, "loadPPM", str(path))
    assert str(raised.value).splitlines()[0] == message


def test_bitmaps_are_of_an_unknown_type(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.pbm"
    path.write_bytes(b"P4\n8 1\n\xff")
    with pytest.raises(bridge.LuaError, match=r"<image\.load> unknown image type: pbm"):
        call(lua, "load", str(path))


@pytest.mark.parametrize("channels", [1, 3])
def test_a_part_of_a_tensor_is_saved(lua: bridge.Lua, tmp_path: Path, channels: int) -> None:
    path = tmp_path / "x.ppm"
    x = picture("Byte")
    name = "savePPM" if channels == 3 else "savePGM"
    lua.execute(
        f"local path, x = ...; image.{name}(path, x:narrow(1, 4 - {channels}, {channels}))", str(path), x
    )
    header = b"P%d\n14 11\n255\n" % (6 if channels == 3 else 5)
    assert path.read_bytes() == header + x[3 - channels :].transpose(1, 2, 0).tobytes()
    assert list(call(lua, "getPPMsize", str(path))) == [channels, 11, 14]
