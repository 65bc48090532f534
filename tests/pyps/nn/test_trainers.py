"""Trainers of other packages, as docs/engines.md has them: they spread the dense part, the rows are at the server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Processes
from tests.pages import blocks
from tests.torchrun import lines_of, torchrun

# What the processes have alike after training. Who knows only the mean of the targets has a loss of 4.
TAILS = {
    "lightning": """
dense, loss = model.layers, trainer.callback_metrics["loss"]
""",
    "accelerate": """
dense = accelerator.unwrap_model(layers)
""",
}
SAYS = """
os.write(1, f"weights {dense.weight.sum().item():.6f}, close {loss.item() < 0.5}\\n".encode())
torch.distributed.destroy_process_group()
"""


@pytest.mark.long
@pytest.mark.parametrize(("trainer", "nodes"), [("lightning", 1), ("accelerate", 2)])
def test_what_is_written_of_it_runs_under_torchrun(
    trainer: str, nodes: int, processes: Processes, tmp_path: Path
) -> None:
    (block,) = (block for block in blocks("docs/engines.md", "py") if trainer in block)
    (tmp_path / "train.py").write_text("import os\n" + block + TAILS[trainer] + SAYS)
    lines = lines_of(torchrun(processes, tmp_path, sys.executable, "-W", "ignore", "train.py", nodes=nodes))
    first, second = (line for line in lines if line.startswith("weights"))
    assert first == second
    assert first.endswith("close True")
