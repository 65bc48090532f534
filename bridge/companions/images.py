"""PNG and JPEG files for Torch7's image package. Pillow, imported when first used, decodes JPEG and writes both.

Pictures are uint8 tensors of channels x height x width. Errors in files are returned as text, not raised: the Lua code
raises them.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.companions import jpeg, png

if TYPE_CHECKING:
    from torch import Tensor

FORMATS = {"png": "PNG", "jpg": "JPEG"}
MODES = {1: "L", 3: "RGB", 4: "RGBA"}  # Pillow's names, by the number of channels


def _content(file: str | bytes | Tensor) -> memoryview:
    """Return a file's bytes. A Lua string arrives as str if it happens to be UTF-8."""
    if isinstance(file, str):
        return memoryview(file.encode())
    if isinstance(file, bytes):
        return memoryview(file)
    return memoryview(file.contiguous().numpy().tobytes())


def scanlines(file: str | bytes | Tensor) -> tuple[Any, ...]:
    """Return the rows of a PNG file, still filtered, and what is needed to decode them: see `png.scanlines`."""
    return png.scanlines(_content(file))


def pngsize(file: str | bytes | Tensor) -> tuple[Any, ...]:
    """Return the number of the PNG colour type, height and width; or None and the error."""
    try:
        found = png.header(_content(file))
    except png.Damage as damage:
        return None, str(damage)
    return found.colour, found.height, found.width


def jpegsize(file: str | bytes | Tensor) -> tuple[Any, ...]:
    """Return channels, height and width; or None and the error."""
    try:
        return jpeg.frame(_content(file))[:3]
    except jpeg.Damage as damage:
        return None, str(damage)


def jpegpixels(file: str | bytes | Tensor) -> tuple[Tensor | None, str]:
    """Return the pixels of a JPEG file, grey where the file is cut off, as in libjpeg; or None and the error."""
    import numpy
    import torch
    from PIL import Image

    content = _content(file)
    try:
        jpeg.frame(content)
        # Pillow refuses files without an end marker; libjpeg supplies it.
        ended = io.BytesIO(b"".join((content, bytes((0xFF, jpeg.EOI)))))
        with Image.open(ended, formats=["JPEG"]) as picture:
            inverted = picture.mode == "CMYK"  # Pillow inverts CMYK, as most programs do
            pixels = numpy.array(picture)
    except jpeg.Damage as damage:
        return None, str(damage)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    pixels = pixels.reshape(*pixels.shape[:2], -1).transpose(2, 0, 1)
    return torch.from_numpy(numpy.ascontiguousarray(255 - pixels if inverted else pixels)), ""


def encode(pixels: Tensor, kind: str, quality: int) -> tuple[Tensor | None, str]:
    """Return a picture as the contents of a file, a uint8 tensor; or None and the error.

    Parameters
    ----------
    pixels : uint8 tensor
        height x width, or channels x height x width.
    kind : {"png", "jpg"}
    quality : int
        Quality of a JPEG, 1 to 100.
    """
    import numpy
    import torch
    from PIL import Image

    array = pixels.contiguous().numpy()
    array = array.reshape(-1, *array.shape[-2:]).transpose(1, 2, 0)
    mode = MODES[array.shape[2]]
    array = numpy.ascontiguousarray(array[..., 0] if mode == "L" else array)
    content = io.BytesIO()
    try:
        height, width = array.shape[:2]
        Image.frombytes(mode, (width, height), array.tobytes()).save(
            content, format=FORMATS[kind], quality=quality
        )
    except (OSError, ValueError) as error:
        return None, str(error)
    return torch.frombuffer(bytearray(content.getvalue()), dtype=torch.uint8), ""


def show(path: str) -> None:
    """Open a file in the browser."""
    import webbrowser

    webbrowser.open(Path(path).resolve().as_uri())
