"""Random pictures, calls of the image package, and how near results must come."""

from __future__ import annotations

from typing import Any

import numpy

import bridge

KINDS = {"Float": numpy.float32, "Double": numpy.float64, "Byte": numpy.uint8}
RANDOM = numpy.random.default_rng(3)


def call(lua: bridge.Lua, name: str, *arguments: Any) -> Any:
    return lua.execute(f"return image.{name}(...)", *arguments)


def picture(kind: str = "Double", *, channels: int = 3, height: int = 11, width: int = 14) -> Any:
    values = RANDOM.integers(0, 256, (channels, height, width))
    return (values if kind == "Byte" else values / 255).astype(KINDS[kind])


def near(made: Any, expected: Any) -> None:
    """Bytes may differ by one grey level, which is what rounding twice gives."""
    assert made.shape == expected.shape
    wide = 1 if made.dtype == numpy.uint8 else 1e-5
    numpy.testing.assert_allclose(made.astype(float), expected.astype(float), atol=wide, rtol=0)
