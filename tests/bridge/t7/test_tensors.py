"""Tensors and storages of Torch7's files as arrays and as tensors of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge import t7
from tests.elements import DTYPES

DATA = Path(__file__).parents[2] / "data" / "torch7"
FILES = DATA / "files"
Everything = Callable[[Any], Iterator[Any]]


def loaded(name: str, **options: Any) -> Any:
    return t7.load(FILES / f"{name}.t7", **options)


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("form", ["", ".ascii"])
def test_a_tensor_is_an_array_of_its_element_type(element: str, form: str) -> None:
    array = loaded(f"tensor_{element}{form}")
    assert array.dtype == DTYPES[element]
    assert array.shape == (3, 4)
    assert array.flags.writeable


@pytest.mark.parametrize("element", DTYPES)
def test_a_tensor_can_be_a_torch_tensor(element: str) -> None:
    tensor = loaded(f"tensor_{element}", tensors="torch")
    assert str(tensor.dtype) == f"torch.{DTYPES[element]}"
    assert torch.equal(tensor, torch.from_numpy(loaded(f"tensor_{element}")))


def test_views_of_one_storage_share_memory(everything: Everything) -> None:
    value = loaded("shared_storage")
    arrays = [v for v in everything(value) if isinstance(v, np.ndarray)]
    storages = [v for v in everything(value) if isinstance(v, t7.Storage)]
    assert len(arrays) > 1
    assert len({id(array.base) for array in arrays}) == 1
    assert all(storage.array is arrays[0].base for storage in storages)
    before = arrays[0].flat[0]
    arrays[0].base[:] += 1
    assert arrays[0].flat[0] == before + 1


def test_views_of_one_storage_share_memory_as_torch_tensors(everything: Everything) -> None:
    value = loaded("shared_storage", tensors="torch")
    tensors = [v for v in everything(value) if isinstance(v, torch.Tensor)]
    assert len(tensors) > 1
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == 1


def test_an_expanded_tensor_keeps_its_stride_of_zero() -> None:
    assert 0 in loaded("nc_expand").strides
    assert 0 in loaded("nc_expand", tensors="torch").stride()


def test_cuda_tensors_are_tensors_in_main_memory() -> None:
    data = t7.dumps(np.float32([1, 2, 3])).replace(
        b"\x11\0\0\0torch.FloatTensor", b"\x10\0\0\0torch.CudaTensor"
    )
    data = data.replace(b"\x12\0\0\0torch.FloatStorage", b"\x11\0\0\0torch.CudaStorage")
    assert t7.loads(data).tolist() == [1, 2, 3]
    half = t7.dumps(np.float16([1, 2])).replace(b"\x10\0\0\0torch.Half", b"\x14\0\0\0torch.CudaHalf")
    half = half.replace(b"\x11\0\0\0torch.Half", b"\x15\0\0\0torch.CudaHalf")
    assert t7.loads(half).dtype == np.float16


def test_a_storage_is_a_sequence_and_is_saved_as_one() -> None:
    storage = loaded("storage_Int")
    assert list(storage) == [1, 2, 3, 4, 5]
    assert np.asarray(storage).dtype == np.int32
    assert repr(storage) == "<Storage of 5 int32>"
    assert list(t7.loads(t7.dumps(t7.Storage(np.int64([2, 3]))))) == [2, 3]
