"""Pictures for Torch7's graphicsmagick package, by Pillow, which is imported when first used.

Pictures are uint8 tensors of height x width x channels: grey, grey and alpha, RGB, RGBA. Errors in files are returned
as text, not raised: the Lua code raises them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# GraphicsMagick's filters, and the filters of Pillow that are used for them.
FILTERS = {
    "Undefined": "LANCZOS",
    "Lanczos": "LANCZOS",
    "Sinc": "LANCZOS",
    "Point": "NEAREST",
    "Box": "BOX",
    "Triangle": "BILINEAR",
    "Hamming": "HAMMING",
    "Cubic": "BICUBIC",
    "Catrom": "BICUBIC",
    "Mitchell": "BICUBIC",
}


def _picture(pixels: Tensor) -> Any:
    """Return a tensor as a Pillow picture."""
    from PIL import Image

    array = pixels.contiguous().numpy()
    height, width, channels = array.shape
    return Image.frombytes(MODES[channels], (width, height), array.tobytes())


def _pixels(picture: Any) -> Tensor:
    """Return a Pillow picture as a tensor."""
    import numpy
    import torch

    if picture.mode not in MODES.values():
        transparent = "transparency" in picture.info or picture.mode in {"PA", "La", "RGBa"}
        picture = picture.convert(
            "RGBA" if transparent else "L" if picture.mode in {"1", "I", "F", "I;16"} else "RGB"
        )
    array = numpy.array(picture)
    return torch.from_numpy(array.reshape(*array.shape[:2], -1))


def read(where: str | bytes | Tensor, width: int = 0, height: int = 0) -> tuple[Tensor | None, str]:
    """Read a picture in any format that Pillow knows.

    Parameters
    ----------
    where : str, bytes or uint8 tensor
        A path (str or bytes), or the contents of a file (tensor).
    width, height : int
        A hint, 0 for none: no larger picture is needed. A JPEG may then be decoded at a fraction of its size that is
        at least this large.

    Returns
    -------
    tuple
        The picture and the name of its format; or None and the error.
    """
    from PIL import Image

    source = where if isinstance(where, str | bytes) else io.BytesIO(where.contiguous().numpy().tobytes())
    try:
        with Image.open(source) as picture:
            kind = str(picture.format)
            if width > 0 and height > 0:
                picture.draft(None, (width, height))
            return _pixels(picture), kind
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def write(pixels: Tensor, kind: str, quality: int) -> tuple[Tensor | None, str]:
    """Return a picture as the contents of a file; or None and the error. `kind`: a format or a file name's suffix."""
    import torch
    from PIL import Image

    name = Image.registered_extensions().get(f".{kind.lower()}", kind.upper())
    picture = _picture(pixels)
    if name == "JPEG" and pixels.shape[2] in {2, 4}:
        picture = picture.convert(MODES[pixels.shape[2] - 1])
    content = io.BytesIO()
    try:
        picture.save(content, format=name, quality=quality)
    except (KeyError, OSError, ValueError) as error:
        return None, f"{type(error).__name__}: {error}"
    return torch.frombuffer(bytearray(content.getvalue()), dtype=torch.uint8), ""


def resize(pixels: Tensor, width: int, height: int, kernel: str) -> Tensor | None:
    """Return the picture in another size; None if there is no filter of this name."""
    from PIL import Image

    if kernel not in FILTERS:
        return None
    return _pixels(_picture(pixels).resize((width, height), Image.Resampling[FILTERS[kernel]]))


def rotate(pixels: Tensor, degrees: float, red: float, green: float, blue: float) -> Tensor:
    """Return the picture turned clockwise. New corners get a colour (components from 0 to 1)."""
    from PIL import Image

    colour = tuple(round(255 * part) for part in (red, green, blue))
    channels = pixels.shape[2]
    fill = {1: colour[:1], 2: (colour[0], 255), 3: colour, 4: (*colour, 255)}[channels]
    turned = _picture(pixels).rotate(
        -degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=fill if channels > 1 else fill[0]
    )
    return _pixels(turned)


def blur(pixels: Tensor, sigma: float) -> Tensor:
    """Return the picture blurred by a Gaussian."""
    from PIL import ImageFilter

    return _pixels(_picture(pixels).filter(ImageFilter.GaussianBlur(sigma)))
