"""Reading PNG files: their chunks are checked and the picture's rows decompressed.

Errors are reported with libpng's messages, because Torch7's programs know those.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST = 1_000_000  # pixels along a side, libpng's limit
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
DEPTHS = {GREY: (1, 2, 4, 8, 16), PALETTE: (1, 2, 4, 8)}
# Where the seven passes of an interlaced picture begin and how far apart their pixels are: x, y, dx, dy.
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
PART = 1 << 20  # bytes decompressed at a time


class Damage(Exception):
    """An error in a file, with libpng's message."""


class Chunk(NamedTuple):
    """A chunk of a file."""

    name: str
    data: memoryview
    intact: bool  # is the checksum right?


class Header(NamedTuple):
    """The format of a picture."""

    width: int
    height: int
    bits: int  # of each sample
    colour: int
    interlaced: bool

    def row(self, width: int) -> int:
        """Return the bytes of a row of `width` pixels, with its filter byte."""
        return 1 + (width * self.bits * CHANNELS[self.colour] + 7) // 8

    @property
    def size(self) -> int:
        """The bytes of all rows together."""
        if not self.interlaced:
            return self.height * self.row(self.width)
        total = 0
        for x, y, across, down in PASSES:
            columns, rows = -((x - self.width) // across), -((y - self.height) // down)
            if columns > 0 and rows > 0:
                total += rows * self.row(columns)
        return total


def _shown(name: bytes) -> str:
    return "".join(
        chr(byte) if chr(byte).isascii() and chr(byte).isalpha() else f"[{byte:02X}]" for byte in name
    )


def _chunks(content: memoryview) -> Iterator[Chunk]:
    """Yield the chunks in order; the caller stops at the last one."""
    at = len(SIGNATURE)
    while True:
        if len(content) - at < 8:
            raise Damage("Read Error")
        length, name = struct.unpack_from(">I4s", content, at)
        shown = _shown(name)
        if length > 0x7FFFFFFF:
            raise Damage("PNG unsigned integer out of range")
        if len(shown) != 4:
            raise Damage(f"{shown}: invalid chunk type")
        if len(content) - at < length + 12:
            raise Damage("Read Error")
        data = content[at + 8 : at + 8 + length]
        at += length + 12
        yield Chunk(
            shown, data, zlib.crc32(data, zlib.crc32(name)) == struct.unpack_from(">I", content, at - 4)[0]
        )


def _header(chunk: Chunk) -> Header:
    if len(chunk.data) != 13:
        raise Damage("IHDR: invalid")
    if not chunk.intact:
        raise Damage("IHDR: CRC error")
    width, height, bits, colour, method, filtering, interlace = struct.unpack(">IIBBBBB", chunk.data)
    usual = colour in CHANNELS and bits in DEPTHS.get(colour, (8, 16))
    if not (0 < width <= LARGEST and 0 < height <= LARGEST and usual) or method or filtering or interlace > 1:
        raise Damage("Invalid IHDR data")
    return Header(width, height, bits, colour, interlace == 1)


def _information(chunks: Iterator[Chunk]) -> tuple[Header, bytes, Chunk]:
    """Return the header, the palette and the first chunk with pixels."""
    header, palette = None, b""
    for chunk in chunks:
        if chunk.name == "IHDR":
            if header:
                raise Damage("IHDR: out of place")
            header = _header(chunk)
        elif not header:
            raise Damage(
                "IDAT: Missing IHDR before IDAT" if chunk.name == "IDAT" else f"{chunk.name}: missing IHDR"
            )
        elif chunk.name == "IDAT":
            if header.colour == PALETTE and not palette:
                raise Damage("IDAT: Missing PLTE before IDAT")
            return header, palette, chunk
        elif chunk.name == "PLTE":
            palette = _palette(chunk, header)
        elif chunk.name == "IEND":
            raise Damage("IEND: out of place")
        elif chunk.name[0].isupper():
            raise Damage(f"{chunk.name}: unhandled critical chunk")
    raise Damage("Read Error")


def _palette(chunk: Chunk, header: Header) -> bytes:
    if header.colour != PALETTE:
        return b""  # only a suggestion for screens with few colours
    if len(chunk.data) % 3 or not 0 < len(chunk.data) <= 768:
        raise Damage("PLTE: invalid")
    if not chunk.intact:
        raise Damage("PLTE: CRC error")
    return bytes(chunk.data)


def _pixels(header: Header, chunk: Chunk, chunks: Iterator[Chunk]) -> bytearray:
    """Return all rows, and check the rest of the file."""
    rows, size, stream = bytearray(), header.size, zlib.decompressobj()
    while chunk.name == "IDAT":
        data: memoryview | bytes = chunk.data
        try:
            while len(rows) < size and not stream.eof:
                room = min(PART, size - len(rows))
                part = stream.decompress(data, room)
                data = stream.unconsumed_tail
                rows += part
                if not data and len(part) < room:
                    break
        except zlib.error as error:
            raise Damage(f"IDAT: {str(error).rpartition(': ')[2]}") from error
        if not chunk.intact:
            raise Damage("IDAT: CRC error")
        chunk = next(chunks)
    if len(rows) < size:
        raise Damage("Not enough image data")
    while chunk.name != "IEND":
        if chunk.name in ("IHDR", "PLTE") or chunk.name[0].islower() or chunk.name == "IDAT":
            chunk = next(chunks)
        else:
            raise Damage(f"{chunk.name}: unhandled critical chunk")
    return rows


def header(content: memoryview) -> Header:
    """Return the format of a file's picture. Raises Damage."""
    return _information(_chunks(content))[0]


def scanlines(content: memoryview) -> tuple[Tensor, int, int, int, int, bool, Tensor] | tuple[None, str, str]:
    """Read the rows of a picture, still filtered.

    Parameters
    ----------
    content : memoryview
        The file's bytes.

    Returns
    -------
    tuple
        The rows (a uint8 vector; each row begins with its filter byte; for an interlaced picture the rows of all
        passes), width, height, bits of a sample, number of the PNG colour type, whether the picture is interlaced, and
        the palette (a uint8 vector). Or None, the step that failed ("init_io" or "read_image"), and the error.
    """
    import torch

    step = "init_io"
    try:
        chunks = _chunks(content)
        found, palette, first = _information(chunks)
        step = "read_image"
        rows = _pixels(found, first, chunks)
    except Damage as damage:
        return None, step, str(damage)
    kept = (
        torch.frombuffer(bytearray(palette), dtype=torch.uint8)
        if palette
        else torch.empty(0, dtype=torch.uint8)
    )
    return torch.frombuffer(rows, dtype=torch.uint8), *found, kept
