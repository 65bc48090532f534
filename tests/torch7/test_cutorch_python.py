"""Tensors on a device cross to Python as torch tensors over the same memory, and back."""

from __future__ import annotations

import gc

import pytest
import torch

import bridge


def test_they_are_torch_tensors_over_the_same_memory(cuda: bridge.Lua) -> None:
    tensor = cuda.eval("t")
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.float32
    tensor[0, 0] = 50
    assert cuda.eval("t[1][1]") == 50
    assert cuda.eval("t:storage()").tolist() == [50, 2, 3, 4, 5, 6]
    cuda.execute("t:select(2, 3):fill(7)")
    assert tensor.tolist() == [[50, 2, 7], [4, 5, 7]]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("t:t()", [[1, 4], [2, 5], [3, 6]]),
        ("t[{{}, {2, 3}}]", [[2, 3], [5, 6]]),
        ("t[2]", [4, 5, 6]),
        ("t:gt(3)", [[0, 0, 0], [1, 1, 1]]),
        ("torch.CudaTensor()", []),
        ("torch.CudaStorage()", []),
    ],
)
def test_views_keep_their_geometry(cuda: bridge.Lua, expression: str, value: object) -> None:
    assert cuda.eval(expression).tolist() == value


@pytest.mark.slow
def test_memory_outlives_its_state(cuda: bridge.Lua) -> None:
    tensor = cuda.eval("torch.CudaTensor(1000):fill(3)")
    cuda.close()
    gc.collect()
    assert tensor.sum().item() == 3000


class TestOnADevice:
    """What comes from a device goes back to it; `t` is there."""

    @pytest.fixture(autouse=True)
    def on_a_device(self, backend: str) -> None:
        self.is_device = backend != "cpu"

    def kind(self) -> str:
        return "torch.CudaTensor" if self.is_device else "torch.FloatTensor"

    def test_it_comes_back_as_what_it_was(self, cuda: bridge.Lua) -> None:
        describe = cuda.eval(
            "function(u) return torch.type(u), u:size(1), u:stride(1), u:storageOffset() end"
        )
        tensor = cuda.eval("t")
        assert describe(tensor.t()[1:]) == (self.kind(), 2, 1, 2)

    def test_writes_are_seen_on_both_sides(self, cuda: bridge.Lua) -> None:
        tensor = cuda.eval("t")
        cuda.eval("function(u) u:mul(2) u[3][2] = -1 end")(tensor.t())
        assert tensor.tolist() == [[2, 4, 6], [8, 10, -1]]
        assert cuda.eval("t[2][3]") == -1

    @pytest.mark.slow
    def test_lua_keeps_the_memory(self, cuda: bridge.Lua) -> None:
        tensor = cuda.eval("t")
        cuda.eval("function(u) kept = u t = nil end")(tensor)
        del tensor
        gc.collect()
        cuda.execute("collectgarbage() collectgarbage()")
        assert cuda.eval("kept:sum()") == 21

    def test_memory_lent_again_and_again_counts_once(self, cuda: bridge.Lua) -> None:
        tensor = cuda.eval("torch.CudaTensor(100000)")
        keep = cuda.eval("function(u) kept = kept or {} kept[#kept + 1] = u end")
        keep(tensor)
        before = cuda._state.held_bytes
        for _ in range(20):
            keep(tensor)
        assert cuda._state.held_bytes == before

    def test_what_has_no_elements_has_no_dimension(self, cuda: bridge.Lua) -> None:
        assert cuda.eval("function(u) return u:dim() end")(cuda.eval("t")[:0]) == 0

    def test_one_without_dimension_is_a_number(self, cuda: bridge.Lua) -> None:
        assert cuda.eval("function(u) return u end")(cuda.eval("t")[1, 2]) == 6

    def test_one_that_requires_grad_is_refused(self, cuda: bridge.Lua) -> None:
        with pytest.raises(TypeError, match="requires grad"):
            cuda.eval("function(u) end")(cuda.eval("t").requires_grad_())
