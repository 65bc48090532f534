"""Torch7 models as PyTorch modules (`to_torch`), and PyTorch modules as Torch7 models (`to_lua`).

One table (`rows`) has a conversion for each Torch7 class, in one file per family of layers; a class without a row
stays a Lua layer. Where a model comes from is `source`'s matter: a converter sees fields of a `TorchObject` only.
"""

from __future__ import annotations

from bridge.convert.context import Conversion, ConvertedLayer, convert, to_torch
from bridge.convert.layer import ConversionError
from bridge.convert.tolua import to_lua

__all__ = ["Conversion", "ConversionError", "ConvertedLayer", "convert", "to_lua", "to_torch"]
