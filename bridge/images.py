"""Files of pictures for the image package of Torch7: PNG, JPEG, PPM and PGM through Pillow, loaded when first used.

Pictures are byte tensors of channels x height x width. What is wrong with a file is returned, not raised: Lua says it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

FORMATS = {"png": ["PNG"], "jpg": ["JPEG"], "ppm": ["PPM"]}
# The channels of Pillow's modes that are kept as they are; what every other mode becomes.
KEPT = {"L", "LA", "RGB", "RGBA", "CMYK"}
BECOMES = {"1": "L", "PA": "RGBA", "YCbCr": "RGB"}
WRITTEN = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def _source(where: str | bytes | Tensor) -> Any:
    """Return what Pillow opens: the path, or the bytes of a tensor as a file."""
    if isinstance(where, str | bytes):
        return where
    return io.BytesIO(where.contiguous().numpy().tobytes())


def decode(where: str | bytes | Tensor, kind: str) -> tuple[Tensor | None, int | str]:
    """Read a picture.

    Parameters
    ----------
    where : str, bytes or uint8 tensor
        A path, or the content of a file.
    kind : {"png", "jpg", "ppm"}

    Returns
    -------
    tuple
        A tensor of channels x height x width and its largest possible value: 255 (uint8), or 65535 (int32; grey PNG
        files with 16 bits); or None and what is wrong.
    """
    import numpy
    import torch
    from PIL import Image

    try:
        with Image.open(_source(where), formats=FORMATS[kind]) as picture:
            if picture.mode.startswith("I"):
                deep = numpy.array(picture, dtype=numpy.int32)
                return torch.from_numpy(deep.reshape(1, *deep.shape)), 65535
            if picture.mode in KEPT:
                mode = picture.mode
            elif picture.mode == "P":
                mode = "RGBA" if "transparency" in picture.info else "RGB"
            else:
                mode = BECOMES.get(picture.mode, "RGB")
            pixels = numpy.array(picture.convert(mode))
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    pixels = pixels.reshape(*pixels.shape[:2], -1).transpose(2, 0, 1)
    return torch.from_numpy(numpy.ascontiguousarray(pixels)), 255


def size(where: str | bytes | Tensor, kind: str) -> tuple[int | None, int | str, int]:
    """Return channels, height and width of a picture whose pixels are not read; or None and what is wrong."""
    from PIL import Image

    try:
        with Image.open(_source(where), formats=FORMATS[kind]) as picture:
            channels = 3 if picture.mode == "P" else len(picture.getbands())
            return channels, picture.height, picture.width
    except Exception as error:
        return None, f"{type(error).__name__}: {error}", 0


def encode(pixels: Tensor, kind: str, quality: int) -> tuple[Tensor | None, str]:
    """Return the content of a file: a uint8 tensor, or None and what is wrong.

    Parameters
    ----------
    pixels : uint8 tensor
        height x width, or channels x height x width.
    kind : {"png", "jpg", "ppm"}
    quality : int
        Of JPEG, 1 to 100.
    """
    import numpy
    import torch
    from PIL import Image

    array = pixels.contiguous().numpy()
    array = array.reshape(-1, *array.shape[-2:]).transpose(1, 2, 0)
    mode = WRITTEN[array.shape[2]]
    array = numpy.ascontiguousarray(array[..., 0] if mode == "L" else array)
    content = io.BytesIO()
    try:
        height, width = array.shape[:2]
        Image.frombytes(mode, (width, height), array.tobytes()).save(
            content, format=FORMATS[kind][0], quality=quality
        )
    except (OSError, ValueError) as error:
        return None, str(error)
    return torch.frombuffer(bytearray(content.getvalue()), dtype=torch.uint8), ""


def show(path: str) -> None:
    """Open a file in the browser."""
    import webbrowser

    webbrowser.open(Path(path).resolve().as_uri())
