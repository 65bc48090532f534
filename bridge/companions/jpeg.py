"""Reading the markers of JPEG files: the size of the picture, and libjpeg's error messages for damaged files.

Pillow decodes the pixels, but its messages for damaged files say little. Torch7's programs know those of libjpeg.
"""

from __future__ import annotations

from typing import NamedTuple

SOI, EOI, SOS, DQT, DHT, DRI, DAC, DNL, TEM = 0xD8, 0xD9, 0xDA, 0xDB, 0xC4, 0xDD, 0xCC, 0xDC, 0x01
FRAMES = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA}
UNKNOWN_FRAMES = {0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xCB, 0xCD, 0xCE, 0xCF}
RESTARTS = range(0xD0, 0xD8)
SKIPPED = {*range(0xE0, 0xF0), 0xFE, DNL, DAC}
LARGEST = 65500  # pixels along a side
TABLES = 4


class Damage(Exception):
    """An error in a file, with libjpeg's message."""


class Frame(NamedTuple):
    """The size and channels of a picture."""

    channels: int
    height: int
    width: int
    identifiers: tuple[int, ...]  # of the channels


class _Reader:
    """Reads the bytes of a file. After its end it yields end markers for ever, as libjpeg does."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.at = 0

    def byte(self) -> int:
        at, length = self.at, len(self.content)
        self.at += 1
        return self.content[at] if at < length else (0xFF, EOI)[(at - length) % 2]

    def word(self) -> int:
        return self.byte() << 8 | self.byte()

    def marker(self) -> int:
        while True:
            while self.byte() != 0xFF:
                pass
            found = self.byte()
            while found == 0xFF:
                found = self.byte()
            if found:
                return found


def _frame(reader: _Reader) -> Frame:
    length, precision = reader.word(), reader.byte()
    height, width, channels = reader.word(), reader.word(), reader.byte()
    if not (height and width and channels):
        raise Damage("Empty JPEG image (DNL not supported)")
    if length != 8 + 3 * channels:
        raise Damage("Bogus marker length")
    identifiers, factors = [], []
    for _ in range(channels):
        identifiers.append(reader.byte())
        factors.append(reader.byte())
        reader.byte()
    if max(height, width) > LARGEST:
        raise Damage(f"Maximum supported image dimension is {LARGEST} pixels")
    if precision != 8:
        raise Damage(f"Unsupported JPEG data precision {precision}")
    if channels > 10:
        raise Damage(f"Too many color components: {channels}, max 10")
    if not all(1 <= factor >> 4 <= 4 and 1 <= factor & 15 <= 4 for factor in factors):
        raise Damage("Bogus sampling factors")
    return Frame(channels, height, width, tuple(identifiers))


def _quantisation(reader: _Reader) -> None:
    length = reader.word() - 2
    while length > 0:
        kind = reader.byte()
        if kind & 15 >= TABLES:
            raise Damage(f"Bogus DQT index {kind & 15}")
        size = 128 if kind >> 4 else 64
        reader.at += size
        length -= 1 + size
    if length:
        raise Damage("Bogus marker length")


def _huffman(reader: _Reader) -> None:
    length = reader.word() - 2
    while length > 16:
        index = reader.byte()
        count = sum(reader.byte() for _ in range(16))
        length -= 17
        if count > min(256, length):
            raise Damage("Bogus Huffman table definition")
        reader.at += count
        length -= count
        if index & ~0x10 >= TABLES:
            raise Damage(f"Bogus DHT index {index & ~0x10}")
    if length:
        raise Damage("Bogus marker length")


def _scan(reader: _Reader, frame: Frame | None) -> Frame:
    if not frame:
        raise Damage("Invalid JPEG file structure: SOS before SOF")
    length, channels = reader.word(), reader.byte()
    if length != 6 + 2 * channels or not 1 <= channels <= 4:
        raise Damage("Bogus marker length")
    for _ in range(channels):
        identifier = reader.byte()
        if identifier not in frame.identifiers:
            raise Damage(f"Invalid component ID {identifier} in SOS")
        reader.byte()
    return frame


def frame(content: memoryview) -> Frame:
    """Return the picture's size and channels from the markers before the pixels. Raises Damage."""
    if not content:
        raise Damage("Empty input file")
    reader = _Reader(content)
    first, second = reader.byte(), reader.byte()
    if (first, second) != (0xFF, SOI):
        raise Damage(f"Not a JPEG file: starts with 0x{first:02x} 0x{second:02x}")
    found = None
    while True:
        marker = reader.marker()
        if marker in FRAMES:
            if found:
                raise Damage("Invalid JPEG file structure: two SOF markers")
            found = _frame(reader)
        elif marker in UNKNOWN_FRAMES:
            raise Damage(f"Unsupported JPEG process: SOF type 0x{marker:02x}")
        elif marker == SOS:
            return _scan(reader, found)
        elif marker == EOI:
            raise Damage("JPEG datastream contains no image")
        elif marker == SOI:
            raise Damage("Invalid JPEG file structure: two SOI markers")
        elif marker == DQT:
            _quantisation(reader)
        elif marker == DHT:
            _huffman(reader)
        elif marker == DRI:
            if reader.word() != 4:
                raise Damage("Bogus marker length")
            reader.word()
        elif marker in SKIPPED:
            reader.at += max(reader.word() - 2, 0)
        elif marker not in RESTARTS and marker != TEM:
            raise Damage(f"Unsupported marker type 0x{marker:02x}")
