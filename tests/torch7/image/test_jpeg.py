"""JPEG files: what is said of damaged ones, and files that stop before their end."""

from __future__ import annotations

import io
from pathlib import Path

import numpy
import pytest
from PIL import Image

import bridge
from tests.torch7.image.pictures import call, picture


def encoded(mode: str = "RGB", **options: object) -> bytes:
    channels = {"L": 1, "RGB": 3, "CMYK": 4}[mode]
    pixels = picture("Byte", channels=channels, height=32, width=32).transpose(1, 2, 0)
    content = io.BytesIO()
    Image.fromarray(pixels.squeeze(), mode).save(content, "JPEG", quality=90, **options)
    return content.getvalue()


WHOLE = encoded()
FRAME = WHOLE.index(b"\xff\xc0")
SCAN = WHOLE.index(b"\xff\xda")
TABLE = WHOLE.index(b"\xff\xdb")
CODES = WHOLE.index(b"\xff\xc4")


def changed(at: int, new: bytes) -> bytes:
    return WHOLE[:at] + new + WHOLE[at + len(new) :]


FRAME_DATA = WHOLE[FRAME:CODES]
DAMAGED = {
    "empty": (b"", "Empty input file"),
    "other": (b"abcd", "Not a JPEG file: starts with 0x61 0x62"),
    "cut": (WHOLE[:5], "JPEG datastream contains no image"),
    "cut in the tables": (WHOLE[: FRAME - 3], "JPEG datastream contains no image"),
    "cut before the scan": (WHOLE[:SCAN], "JPEG datastream contains no image"),
    "only its end": (b"\xff\xd8\xff\xd9", "JPEG datastream contains no image"),
    "begins twice": (WHOLE[:2] + WHOLE, "Invalid JPEG file structure: two SOI markers"),
    "two frames": (
        WHOLE[:CODES] + FRAME_DATA + WHOLE[CODES:],
        "Invalid JPEG file structure: two SOF markers",
    ),
    "no frame": (WHOLE[:FRAME] + WHOLE[CODES:], "Invalid JPEG file structure: SOS before SOF"),
    "no height": (changed(FRAME + 5, b"\0\0"), "Empty JPEG image (DNL not supported)"),
    "frame's length": (changed(FRAME + 3, b"\x12"), "Bogus marker length"),
    "scan's length": (changed(SCAN + 3, b"\x0d"), "Bogus marker length"),
    "scan's channel": (changed(SCAN + 5, b"\x63"), "Invalid component ID 99 in SOS"),
    "precision": (changed(FRAME + 4, b"\x0c"), "Unsupported JPEG data precision 12"),
    "lossless": (changed(FRAME + 1, b"\xc3"), "Unsupported JPEG process: SOF type 0xc3"),
    "size": (changed(FRAME + 5, b"\xff\xff"), "Maximum supported image dimension is 65500 pixels"),
    "sampling": (changed(FRAME + 11, b"\x55"), "Bogus sampling factors"),
    "table's number": (changed(TABLE + 4, b"\x07"), "Bogus DQT index 7"),
    "codes' number": (changed(CODES + 4, b"\x07"), "Bogus DHT index 7"),
    "codes": (changed(CODES + 5, b"\xff" * 16), "Bogus Huffman table definition"),
    "marker": (changed(TABLE + 1, b"\x02"), "Unsupported marker type 0x02"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("function", ["loadJPG", "getJPGsize", "decompressJPG"])
def test_damage_is_named_as_libjpeg_names_it(
    lua: bridge.Lua, tmp_path: Path, function: str, name: str
) -> None:
    content, message = DAMAGED[name]
    path = tmp_path / "x.jpg"
    path.write_bytes(content)
    source = numpy.frombuffer(content, numpy.uint8) if function == "decompressJPG" else str(path)
    with pytest.raises(bridge.LuaError) as raised:
        call(lua, function, source)
    assert str(raised.value).splitlines()[0] == message


@pytest.mark.parametrize("progressive", [False, True])
def test_a_file_that_stops_is_shown_as_far_as_it_goes(lua: bridge.Lua, progressive: bool) -> None:
    whole = encoded(progressive=progressive, subsampling=0)
    complete = call(lua, "decompressJPG", numpy.frombuffer(whole, numpy.uint8), 3, "byte")
    made = call(lua, "decompressJPG", numpy.frombuffer(whole[:-200], numpy.uint8), 3, "byte")
    assert made.shape == (3, 32, 32)
    assert (made != complete).any()
    if not progressive:
        numpy.testing.assert_array_equal(made[:, :8], complete[:, :8])


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3), ("CMYK", 4)])
def test_the_size_without_the_pixels(lua: bridge.Lua, tmp_path: Path, mode: str, channels: int) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(encoded(mode))
    assert list(call(lua, "getJPGsize", str(path))) == [channels, 32, 32]
    assert call(lua, "load", str(path)).shape == (channels, 32, 32)


def test_cmyk_is_as_the_file_has_it(lua: bridge.Lua) -> None:
    content = io.BytesIO()
    Image.new("CMYK", (16, 16), (250, 200, 100, 20)).save(content, "JPEG", quality=100)
    made = call(lua, "decompressJPG", numpy.frombuffer(content.getvalue(), numpy.uint8), None, "byte")
    assert abs(made[:, 0, 0].astype(int) - [5, 55, 155, 235]).max() <= 1


def test_bytes_changed_at_random_never_do_worse_than_an_error(lua: bridge.Lua) -> None:
    random = numpy.random.default_rng(5)
    for _ in range(200):
        damaged = bytearray(WHOLE)
        for at in random.integers(2, len(damaged), 3):
            damaged[at] = int(random.integers(256))
        damaged[FRAME + 5 : FRAME + 9] = WHOLE[FRAME + 5 : FRAME + 9]  # no gigapixels
        try:
            made = call(lua, "decompressJPG", numpy.frombuffer(bytes(damaged), numpy.uint8))
        except bridge.LuaError:
            continue
        assert made.ndim == 3
