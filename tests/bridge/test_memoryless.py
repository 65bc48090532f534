"""Tensors whose elements Lua could not read where they say they are: refused, never read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import bridge


class Logged(torch.Tensor):
    """A subclass with real memory that answers operators itself."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def fake(device: str) -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(4, device=device)


MADE: dict[str, Callable[[], Any]] = {
    "fake": lambda: fake("cpu"),
    "fake on a GPU": lambda: fake("cuda"),
    "functional": lambda: torch._to_functional_tensor(torch.ones(3)),
    "meta": lambda: torch.empty(3, device="meta"),
    "zero": lambda: torch._efficientzerotensor(3),
    "wrapper subclass": lambda: torch.Tensor._make_wrapper_subclass(Logged, (3,)),
    "subclass with a dispatch of its own": lambda: torch.ones(3).as_subclass(Logged),
}


@pytest.mark.parametrize("name", MADE)
def test_a_tensor_without_readable_memory_is_refused_with_the_way_out(echo: Any, name: str) -> None:
    with pytest.raises(TypeError, match="no elements in memory that Lua could read; pass a plain tensor"):
        echo(MADE[name]())


# torch makes its own forward-mode formulas by a compiler that it calls deprecated.
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("transform", ["vmap", "jvp", "functionalize"])
def test_the_tensors_of_a_transform_are_refused(echo: Any, transform: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with pytest.raises(TypeError, match="no elements in memory"):
            echo(x)
        return x

    x = torch.ones(2, 3)
    if transform == "vmap":
        torch.vmap(program)(x)
    elif transform == "jvp":
        torch.func.jvp(program, (x,), (x,))
    else:
        torch.func.functionalize(program)(x)  # type: ignore[attr-defined]


def test_a_distributed_tensor_is_refused(echo: Any) -> None:
    from torch.distributed import destroy_process_group, init_process_group
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import distribute_tensor
    from torch.testing._internal.distributed.fake_pg import FakeStore

    init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        tensor = distribute_tensor(torch.ones(4), init_device_mesh("cpu", (2,)))
        with pytest.raises(TypeError, match=r"a DTensor of shape .* tensor.full_tensor\(\)"):
            echo(tensor)
    finally:
        destroy_process_group()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_a_nested_tensor_is_refused_with_the_way_out(echo: Any) -> None:
    tensor = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(TypeError, match=r"nested torch tensor .* tensor.unbind\(\)"):
        echo(tensor)


def test_a_plain_subclass_is_shared(lua: bridge.Lua) -> None:
    class Named(torch.Tensor): ...

    x = torch.zeros(3).as_subclass(Named)
    lua.execute("(...):fill(7)", x)
    assert x.tolist() == [7, 7, 7]


def test_a_lazily_negated_tensor_arrives_with_its_sign(lua: bridge.Lua) -> None:
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg()
    assert lua.eval("(...):clone()", x).tolist() == [-2, 4]


@pytest.mark.parametrize("ndim", [65, 300])
def test_more_dimensions_than_a_tensor_may_have_are_refused(echo: Any, ndim: int) -> None:
    with pytest.raises(ValueError, match=rf"{ndim} dimensions has no Lua form \(at most 64\)"):
        echo(torch.empty([1] * ndim))


def test_a_tensor_of_64_dimensions_passes(echo: Any) -> None:
    assert echo(torch.ones([1] * 64)).shape == (1,) * 64


def test_an_array_of_empty_records_is_refused_and_let_go(echo: Any) -> None:
    import weakref

    array = np.empty(3, "V0")
    gone = weakref.ref(array)
    with pytest.raises(TypeError, match="no Torch7 tensor type holds dtype"):
        echo(array)
    array.resize(4)  # numpy refuses while anybody holds its memory
    del array
    assert gone() is None
