"""What the image package refuses, and in what words."""

from __future__ import annotations

import pytest

import bridge

SMALL = "torch.Tensor(3, 4, 5):zero()"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("image.load('/nowhere/x.png')", "/nowhere/x.png: No such file or directory"),
        ("image.load()", "missing file name"),
        ("image.save('x.gif', torch.zeros(2, 2))", "unknown image type: gif"),
        ("image.save('x', torch.zeros(2, 2))", "unknown image type: nil"),
        ("image.loadPNG('/nowhere/x')", "[read_png_file] File /nowhere/x could not be opened for reading"),
        ("image.loadJPG('/nowhere/x')", "cannot open file </nowhere/x> for reading"),
        ("image.loadPPM('/nowhere')", "cannot open file </nowhere> for reading"),
        ("image.getPNGsize('/nowhere/x')", "[get_png_size] File /nowhere/x could not be opened for reading"),
        (
            "image.save('/nowhere/x.png', torch.zeros(2, 2))",
            "[write_png_file] File /nowhere/x.png could not be opened for writing",
        ),
        ("image.save('/nowhere/x.jpg', torch.zeros(2, 2))", "Error opening output jpeg file /nowhere/x.jpg"),
        ("image.save('/nowhere/x.pgm', torch.zeros(2, 2))", "cannot open file </nowhere/x.pgm> for writing"),
        ("image.save('/nowhere/x.png', torch.zeros(2, 2, 2))", "[write_png_file] Depth must be 1, 3 or 4"),
        ("image.save('/nowhere/x.png', torch.zeros(2))", "[write_png_file] Depth must be 1, 3 or 4"),
        ("image.compressJPG(torch.zeros(2, 2, 2))", "tensor should have 1 or 3 channels (gray or RGB)"),
        ("image.compressJPG(torch.zeros(2))", "supports only 1 or 3 dimension tensors"),
        ("image.savePPM('/tmp/x.ppm', torch.zeros(2, 2))", "can only save 3xHxW images as PPM"),
        ("image.savePGM('/tmp/x.pgm', torch.zeros(3, 2, 2))", "can only save 1xHxW or HxW images as PGM"),
        ("image.decompress(torch.ByteTensor(10):zero())", "Input must be either jpg or png format"),
        ("image.decompress(torch.Tensor(10))", "must be a byte tensor"),
        (
            "image.decompress(torch.ByteTensor{137, 80, 78, 71, 1, 2, 3})",
            "ByteTensor is not recognized as a PNG file",
        ),
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
        ("image.rgb2lab(torch.ByteTensor(3, 2, 2))", "image.rgb2lab: not supported for torch.ByteTensor"),
        ("image.lab2rgb(torch.ByteTensor(3, 2, 2))", "image.lab2rgb: not supported for torch.ByteTensor"),
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
