"""Tensors on a device in files."""

from __future__ import annotations

from pathlib import Path

import bridge


def test_they_are_written_and_read_as_what_they_are(cuda: bridge.Lua, tmp_path: Path) -> None:
    code = """
    torch.save(..., {t, t:storage(), torch.CudaLongTensor{5}})
    local read = torch.load(...)
    return torch.type(read[1]), torch.type(read[2]), torch.type(read[3]), read[1][2][3]
    """
    file = str(tmp_path / "cuda.t7")
    assert cuda.execute(code, file) == ("torch.CudaTensor", "torch.CudaStorage", "torch.CudaLongTensor", 6)
    with bridge.Lua() as without:
        without.require("torch")
        kinds = "local read = torch.load(...) return torch.type(read[1]), torch.type(read[3]), read[1][2][3]"
        assert without.execute(kinds, file) == ("torch.FloatTensor", "torch.LongTensor", 6)
