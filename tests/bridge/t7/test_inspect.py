"""What `bridge.t7.inspect` tells of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import t7

DATA = Path(__file__).parents[2] / "data" / "torch7"
FILES = DATA / "files"
ALL = sorted(path.name for path in FILES.glob("*.t7"))
Everything = Callable[[Any], Iterator[Any]]


def loaded(name: str, **options: Any) -> Any:
    return t7.load(FILES / f"{name}.t7", **options)


def test_inspect_describes_tensors_without_reading_them(tmp_path: Path) -> None:
    file = tmp_path / "sparse.t7"
    t7.save({"w": np.zeros((2, 3), "f4")}, file)
    summary = t7.inspect(file)
    tensor = summary.value["w"]
    assert (tensor.typename, tensor.shape, tensor.strides, tensor.offset) == (
        "torch.FloatTensor",
        (2, 3),
        (3, 1),
        0,
    )
    assert tensor.storage.nbytes == 24
    assert tensor.storage.position == file.stat().st_size - 24
    assert (summary.tensors, summary.storages, summary.elements, summary.data_bytes) == (1, 1, 6, 24)


def test_inspect_counts_classes_and_parameters(everything: Everything) -> None:
    summary = t7.inspect(FILES / "model_mlp_float.t7")
    model = loaded("model_mlp_float")
    assert summary.classes["nn.Linear"] == sum(
        isinstance(v, t7.TorchObject) and v.torch_typename() == "nn.Linear" for v in everything(model)
    )
    assert summary.parameters == model["params"].size
    assert "nn.Linear" in str(summary)


def test_inspect_prints_no_more_than_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "wide.t7"
    t7.save({"many": list(range(1000)), "deep": [[[[["x"]]]]]}, file)
    lines = t7.inspect(file).text(depth=2, width=5).splitlines()
    assert len(lines) < 14
    assert any("995 more" in line for line in lines)


@pytest.mark.parametrize("name", ALL)
def test_every_file_can_be_inspected(name: str, everything: Everything) -> None:
    summary = t7.inspect(FILES / name)
    assert summary.tensors == sum(isinstance(v, np.ndarray) for v in everything(t7.load(FILES / name)))
    assert summary.file_bytes == (FILES / name).stat().st_size
    assert str(summary)
