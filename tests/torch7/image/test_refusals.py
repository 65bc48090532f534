"""What the image package refuses, and in what words."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge
from tests.torch7.image.pictures import call, picture

SMALL = "torch.Tensor(3, 4, 5):zero()"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("image.load('/nowhere/x.png')", "/nowhere/x.png: No such file or directory"),
        ("image.load()", "missing file name"),
        ("image.save('x.gif', torch.zeros(2, 2))", "unknown image type: gif"),
        ("image.save('x', torch.zeros(2, 2))", "unknown image type: nil"),
        ("image.save('/nowhere/x.png', torch.zeros(2, 2))", "No such file or directory"),
        ("image.save('/tmp/x.png', torch.zeros(7, 2, 2))", "cannot write an image of size 7x2x2"),
        ("image.savePPM('/tmp/x.ppm', torch.zeros(2, 2))", "can only save 3xHxW images as PPM"),
        ("image.savePGM('/tmp/x.pgm', torch.zeros(3, 2, 2))", "can only save 1xHxW or HxW images as PGM"),
        ("image.decompress(torch.ByteTensor(10):zero())", "Input must be either jpg or png format"),
        ("image.decompress(torch.Tensor(10))", "must be a byte tensor"),
        ("image.decompressPNG(torch.ByteTensor{137, 80, 78, 71, 1, 2, 3})", "UnidentifiedImageError"),
        (f"image.compressJPG({SMALL}, 101)", "quality should be between 0 and 100"),
        (f"image.scale({SMALL}, 'x')", "could not find valid dest size"),
        (f"image.scale({SMALL}, 0, 3)", "has no pixels"),
        (f"image.scale({SMALL}, 3, 3, 'fine')", "mode must be one of: simple | bicubic | bilinear"),
        (f"image.scale(torch.Tensor(2, 2), {SMALL})", "src and dst depths do not match"),
        ("image.scale(torch.Tensor(2), 3, 3)", "not 2 or 3 dimensional"),
        ("image.scale()", "incorrect arguments"),
        (f"image.crop({SMALL}, 2, 2, 9, 9)", "crop goes outside bounds of src"),
        (f"image.crop({SMALL}, -1, 0, 2, 2)", "crop goes outside bounds of src"),
        (f"image.crop({SMALL}, 3, 3, 2, 2)", "has no pixels"),
        (f"image.crop({SMALL}, 'x', 2, 2)", 'crop format must be "c"'),
        (f"image.flip({SMALL}, 4)", "Bad flip dimension"),
        (f"image.hflip({SMALL}[1]:t())", "2D input tensor is not contiguous"),
        (f"image.rotate({SMALL}, 1, 'fine')", "mode must be one of: simple | bilinear"),
        (f"local x = {SMALL}; image.rotate(x, x, 1)", "in-place rotate not supported"),
        (f"image.polar({SMALL}, 'fine')", "interpolation must be one of"),
        (f"image.warp({SMALL}, torch.zeros(2, 3, 3), 'fine')", "mode is not lanczos"),
        (f"image.warp({SMALL}, torch.zeros(2, 3, 3), 'simple', true, 'clamp', 1)", "pad_value can only be"),
        (f"image.warp({SMALL}, torch.zeros(3, 3))", "flow field has to be of size 2xHxW"),
        ("image.rgb2hsl(torch.zeros(2, 3, 3))", "an image of size 3xHxW expected, got 2x3x3"),
        ("image.rgb2hsl()", "missing input"),
        ("image.y2jet(torch.zeros(2, 2))", "levels are 1 and more"),
        ("image.drawText(torch.zeros(2, 2), 'x')", "3D tensor of shape 3 x H x W"),
        (f"image.drawText({SMALL}, 'x', 1, 1, {{size = 0}})", "size has to be 1 or more, got 0"),
        ("image.toDisplayTensor{input = 3}", "type of input: number"),
        ("image.toDisplayTensor{input = torch.rand(4, 3, 3), nrow = 0}", "nrow has to be 1 or more"),
        ("image.erode()", "missing image"),
    ],
)
def test_says_what_is_wrong(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str], code: str, message: str
) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in str(raised.value)
    capsys.readouterr()


@pytest.mark.parametrize("cut", [5, 40, 200, 700])
@pytest.mark.parametrize("name", ["PNG", "JPG"])
def test_damaged_files_are_refused_or_grey_never_worse(
    lua: bridge.Lua, tmp_path: Path, name: str, cut: int
) -> None:
    content = call(lua, f"compress{name}", picture("Byte", height=32, width=32))[:cut]
    path = tmp_path / f"x.{name.lower()}"
    path.write_bytes(content.tobytes())
    with pytest.raises(bridge.LuaError, match=r"x\.(png|jpg): "):
        call(lua, "load", str(path))
    if name == "JPG":
        assert call(lua, "decompressJPG", content) is None
