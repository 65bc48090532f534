"""PNG files of every kind, written here by hand, and what is said of damaged ones."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy
import pytest

import bridge
from tests.torch7.image.pictures import RANDOM, call

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def predicted(filtering: int, left: int, above: int, corner: int) -> int:
    if filtering == 4:
        distances = [abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)]
        return (left, above, corner)[distances.index(min(distances))]
    return (0, left, above, (left + above) // 2)[filtering]


def filtered(rows: list[bytes], step: int, kinds: list[int]) -> bytes:
    made, last = bytearray(), bytes(len(rows[0]) if rows else 0)
    for number, row in enumerate(rows):
        kind = kinds[number % len(kinds)]
        made.append(kind)
        for i, byte in enumerate(row):
            left, corner = (row[i - step], last[i - step]) if i >= step else (0, 0)
            made.append((byte - predicted(kind, left, last[i], corner)) % 256)
        last = row
    return bytes(made)


def packed(samples: Any, bits: int) -> list[bytes]:
    """Rows of samples (height x width x channels) as bytes."""
    rows = samples.reshape(samples.shape[0], -1)
    if bits == 16:
        return [row.astype(">u2").tobytes() for row in rows]
    if bits == 8:
        return [row.astype("u1").tobytes() for row in rows]
    bools = (rows[:, :, None] >> numpy.arange(bits - 1, -1, -1)) & 1
    return [numpy.packbits(row.reshape(-1)).tobytes() for row in bools]


def parts(
    samples: Any, bits: int, colour: int, *, interlaced: bool = False, kinds: Any = (0, 1, 2, 3, 4)
) -> list[bytes]:
    """The chunks of a file."""
    height, width, channels = samples.shape
    step = max(bits * channels // 8, 1)
    data = b""
    for x, y, dx, dy in PASSES if interlaced else ((0, 0, 1, 1),):
        part = samples[y::dy, x::dx]
        if part.size:
            data += filtered(packed(part, bits), step, list(kinds))
    made = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, int(interlaced)))]
    if colour == PALETTE:
        made.append(chunk(b"PLTE", bytes(range(3 * 2**bits))))
    made.append(chunk(b"tEXt", b"Title\0x"))
    content = zlib.compress(data)
    made += [chunk(b"IDAT", content[:20]), chunk(b"IDAT", content[20:])]
    return [*made, chunk(b"IEND")]


def build(samples: Any, bits: int, colour: int, **options: Any) -> bytes:
    return SIGNATURE + b"".join(parts(samples, bits, colour, **options))


def random(bits: int, colour: int, height: int = 13, width: int = 11) -> Any:
    return RANDOM.integers(0, 2**bits, (height, width, CHANNELS[colour]))


KINDS = [
    *((bits, GREY) for bits in (1, 2, 4, 8, 16)),
    *((bits, PALETTE) for bits in (1, 2, 4)),
    *((bits, colour) for bits in (8, 16) for colour in (RGB, GREY_ALPHA, RGBA)),
]


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("bits", "colour"), KINDS)
def test_samples_come_back(lua: bridge.Lua, tmp_path: Path, bits: int, colour: int, interlaced: bool) -> None:
    samples = random(bits, colour)
    path = tmp_path / "x.png"
    path.write_bytes(build(samples, bits, colour, interlaced=interlaced))
    planes = samples.transpose(2, 0, 1)
    if colour == PALETTE:
        expected = numpy.concatenate([3 * planes + k for k in range(3)]) / 255
    else:
        expected = planes / (2**bits - 1)
    made = call(lua, "load", str(path))
    assert made.dtype == numpy.float64
    numpy.testing.assert_allclose(made, expected, rtol=1e-15)
    bytes_ = call(lua, "load", str(path), None, "byte")
    high = samples.transpose(2, 0, 1) >> 8 if bits == 16 else numpy.rint(expected * 255)
    numpy.testing.assert_array_equal(bytes_, high)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize(("bits", "colour"), [(1, GREY), (8, RGB), (16, RGBA)])
def test_every_filter(lua: bridge.Lua, bits: int, colour: int, kind: int) -> None:
    samples = random(bits, colour)
    content = numpy.frombuffer(build(samples, bits, colour, kinds=[kind]), numpy.uint8)
    made = call(lua, "decompressPNG", content, None, "double")
    numpy.testing.assert_allclose(made, samples.transpose(2, 0, 1) / (2**bits - 1), rtol=1e-15)


def test_one_pixel_interlaced(lua: bridge.Lua) -> None:
    content = numpy.frombuffer(build(random(8, RGB, 1, 1), 8, RGB, interlaced=True), numpy.uint8)
    assert call(lua, "decompressPNG", content).shape == (3, 1, 1)


def test_16_bits_are_kept_in_floats(lua: bridge.Lua) -> None:
    samples = numpy.array([[[0, 1, 256], [257, 65534, 65535]]])
    content = numpy.frombuffer(build(samples, 16, RGB), numpy.uint8)
    made = call(lua, "decompressPNG", content, 3, "float")
    numpy.testing.assert_allclose(made * 65535, samples.transpose(2, 0, 1), rtol=1e-6)
    assert call(lua, "decompressPNG", content, 3, "byte").ravel().tolist() == [0, 1, 0, 255, 1, 255]


@pytest.mark.parametrize(("colour", "channels"), [(GREY, 1), (GREY_ALPHA, 2), (RGB, 3), (RGBA, 4)])
def test_the_size(lua: bridge.Lua, tmp_path: Path, colour: int, channels: int) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(build(random(8, colour), 8, colour))
    assert list(call(lua, "getPNGsize", str(path))) == [channels, 13, 11]


def test_the_size_of_a_palette_picture_is_not_told(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(build(random(4, PALETTE), 4, PALETTE))
    with pytest.raises(bridge.LuaError, match=r"^\[get_png_size\] unsupported type: PALETTE"):
        call(lua, "getSize", str(path))


# ---- damage

HEADER, TEXT, FIRST, SECOND, END = parts(random(8, RGB), 8, RGB)
STEP = "[read_png] Error during init_io: "
PIXELS = "[read_png_file] Error during read_image: "


def broken(part: bytes) -> bytes:
    """With another checksum."""
    return part[:-1] + bytes([part[-1] ^ 1])


def file(*chunks: bytes) -> bytes:
    return SIGNATURE + b"".join(chunks)


def rows(data: bytes) -> bytes:
    return file(HEADER, chunk(b"IDAT", data), END)


DAMAGED = {
    "short": (b"\x89PNG", "[read_png_file] File {} error reading header"),
    "other": (b"\x89PNGxxxxxx", "[read_png_file] File {} is not recognized as a PNG file"),
    "empty": (SIGNATURE, STEP + "Read Error"),
    "cut in the header": (file(HEADER)[:20], STEP + "Read Error"),
    "header's checksum": (file(broken(HEADER), FIRST, SECOND, END), STEP + "IHDR: CRC error"),
    "header's length": (file(chunk(b"IHDR", b"1234")), STEP + "IHDR: invalid"),
    "no pixels": (
        file(chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 1, 8, 2, 0, 0, 0)), FIRST),
        STEP + "Invalid IHDR data",
    ),
    "bits": (
        file(chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 4, 2, 0, 0, 0)), FIRST),
        STEP + "Invalid IHDR data",
    ),
    "two headers": (file(HEADER, HEADER), STEP + "IHDR: out of place"),
    "no header": (file(FIRST, SECOND, END), STEP + "IDAT: Missing IHDR before IDAT"),
    "text before the header": (file(TEXT, HEADER), STEP + "tEXt: missing IHDR"),
    "no palette": (
        file(chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 3, 0, 0, 0)), FIRST),
        STEP + "IDAT: Missing PLTE before IDAT",
    ),
    "end before the pixels": (file(HEADER, END), STEP + "IEND: out of place"),
    "unknown": (file(HEADER, chunk(b"ABCD"), FIRST), STEP + "ABCD: unhandled critical chunk"),
    "name": (file(HEADER, chunk(b"A1CD"), FIRST), STEP + "A[31]CD: invalid chunk type"),
    "cut in the pixels": (file(HEADER, FIRST, SECOND)[:-9], PIXELS + "Read Error"),
    "no end": (file(HEADER, FIRST, SECOND), PIXELS + "Read Error"),
    "pixels' checksum": (file(HEADER, FIRST, broken(SECOND), END), PIXELS + "IDAT: CRC error"),
    "too few pixels": (file(HEADER, FIRST, END), PIXELS + "Not enough image data"),
    "too few rows": (rows(zlib.compress(bytes(100))), PIXELS + "Not enough image data"),
    "not compressed": (rows(b"x" * 100), PIXELS + "IDAT: incorrect header check"),
    "filter": (rows(zlib.compress(b"\5" * 1000)), PIXELS + "bad adaptive filter value"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_named_as_libpng_names_it(lua: bridge.Lua, tmp_path: Path, name: str) -> None:
    content, message = DAMAGED[name]
    path = tmp_path / "x.png"
    path.write_bytes(content)
    with pytest.raises(bridge.LuaError) as raised:
        call(lua, "load", str(path))
    assert str(raised.value).splitlines()[0] == message.format(path)


def test_a_wrong_checksum_of_text_is_no_damage(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(file(HEADER, broken(TEXT), FIRST, SECOND, END))
    assert call(lua, "load", str(path)).shape == (3, 13, 11)


def test_memory_that_is_no_png(lua: bridge.Lua) -> None:
    with pytest.raises(
        bridge.LuaError, match=r"^\[read_png_byte_tensor\] ByteTensor is not recognized as a PNG file"
    ):
        call(lua, "decompressPNG", numpy.zeros(20, numpy.uint8))


def test_bits_turned_at_random_never_do_worse_than_an_error(lua: bridge.Lua) -> None:
    content = build(random(8, RGB), 8, RGB)
    for _ in range(300):
        damaged = bytearray(content)
        for at in RANDOM.integers(8, len(content), 3):
            damaged[at] ^= 1 << int(RANDOM.integers(8))
        code = "return select(2, pcall(image.decompressPNG, ...))"
        made = lua.execute(code, numpy.frombuffer(bytes(damaged), numpy.uint8))
        assert made.startswith("[read_png") if isinstance(made, str) else made.shape[0] in range(1, 5)
