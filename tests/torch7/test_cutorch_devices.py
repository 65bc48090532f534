"""Devices, their memory, streams and events, by cutorch's names."""

from __future__ import annotations

from typing import Any

import pytest

import bridge

CALLS: list[tuple[str, Any]] = [
    ("cutorch.getDeviceCount()", 1),
    ("cutorch.getDevice()", 1),
    ("select('#', cutorch.setDevice(1))", 0),
    ("select('#', cutorch.synchronize())", 0),
    ("select('#', cutorch.synchronizeAll())", 0),
    ("cutorch.withDevice(1, function(a) return a, 2 end, 1)", (1, 2)),
    ("cutorch.getPeerToPeerAccess(1, 1)", True),
    ("cutorch.getKernelPeerToPeerAccess()", False),
    ("cutorch.getNumStreams()", 0),
    ("cutorch.getStream()", 0),
    ("cutorch.getNumBlasHandles()", 1),
    ("cutorch.Event():record():query()", True),
    ("torch.type(cutorch.createCudaHostTensor(2, 3))", "torch.DoubleTensor"),
    ("torch.type(cutorch.createCudaHostTensor('torch.FloatTensor', 2, 3))", "torch.FloatTensor"),
    ("cutorch.createCudaHostFloatTensor(2, 3):nElement()", 6),
    ("type(cutorch.getDeviceProperties(1).name)", "string"),
    ("cutorch.hasHalf", True),
]


@pytest.mark.parametrize(("expression", "value"), CALLS)
def test_calls(shared: bridge.Lua, expression: str, value: Any) -> None:
    assert shared.eval(expression) == value


def test_memory_is_that_of_the_machine(cuda: bridge.Lua) -> None:
    free, total = cuda.eval("cutorch.getMemoryUsage(1)")
    properties = cuda.eval("cutorch.getDeviceProperties(1)")
    assert 0 < free < total == properties["totalGlobalMem"]


def test_streams_are_numbered_as_they_are_reserved(cuda: bridge.Lua) -> None:
    code = """
    cutorch.reserveStreams(2)
    cutorch.setStream(2)
    cutorch.streamWaitFor(1, {2})
    cutorch.streamBarrier{0, 1, 2}
    cutorch.streamBarrierMultiDevice{[1] = {1, 2}}
    cutorch.streamWaitForMultiDevice(1, 1, {[1] = {2}})
    cutorch.streamSynchronize(2)
    local set = cutorch.getStream()
    cutorch.setDefaultStream()
    return cutorch.getNumStreams(), set, cutorch.getStream()
    """
    assert cuda.execute(code) == (2, 2, 0)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("cutorch.setDevice(2)", "invalid device ordinal: cutorch.setDevice(2), there is 1 device"),
        ("cutorch.setDevice(0)", "invalid device ordinal"),
        ("cutorch.setDevice()", "bad argument #1 to 'setDevice' (number expected, got no value)"),
        (
            "cutorch.setStream(1)",
            "(Stream between 0 and 0 expected, got 1; cutorch.reserveStreams makes more)",
        ),
        ("cutorch.setBlasHandle(2)", "(BlasHandle between 1 and 1 expected, got 2"),
        ("torch.Tensor(2):type('torch.CudaNoTensor')", "attempt to index a nil value"),
        ("cutorch.withDevice(1, function() error('mine', 0) end)", "mine"),
        ("torch.CudaTensor(2)[3]", "out of range"),
        ("torch.CudaTensor(2):add(torch.CudaTensor(3))", "inconsistent tensor size"),
    ],
)
def test_what_cannot_be_is_told(shared: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        shared.execute(
            f"local _ = nil {code.replace('torch.CudaTensor(2)[3]', '_ = torch.CudaTensor(2)[3]')}"
        )
    assert message in raised.value.message
