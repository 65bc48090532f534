"""Torch7 models as PyTorch modules (`to_torch`), and PyTorch modules as Torch7 models (`to_lua`).

The table in `rows` has a converter for each Torch7 class; there is a file for each family of layers. A layer of a class
without a row remains a Lua layer. `source` reads models of all origins, so that converters see only `TorchObject`s.
"""

from __future__ import annotations

from bridge.convert.context import Conversion, ConvertedLayer, convert, to_torch
from bridge.convert.layer import ConversionError
from bridge.convert.tolua import to_lua

__all__ = ["Conversion", "ConversionError", "ConvertedLayer", "convert", "to_lua", "to_torch"]
