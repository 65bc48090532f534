"""A forward in Lua and its backward, as `function.py` runs them: what modules and criterions share, and a module's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from bridge._boundary import LuaObject
from bridge.nn.function import InLua, evaluate
from bridge.nn.host import LuaHost
from bridge.nn.leases import Lease
from bridge.nn.trees import pick, unflatten


class HostCall:
    """One forward of a LuaHost, whose first `count` tensors are those of its inputs."""

    def __init__(self, host: LuaHost, dtype: torch.dtype, inputs: Any, count: int) -> None:
        self.state = host.state
        self.take = host.take
        self.structure: Any = None
        self._dtype = dtype
        self._inputs = inputs
        self._count = count

    def _input_gradients(
        self, found: Any, tensors: tuple[torch.Tensor, ...], needed: tuple[bool, ...], target: LuaObject
    ) -> list[torch.Tensor | None]:
        """Return the gradient of each tensor: those of inputs from what Lua gave, None for the others."""
        by_place: dict[int, torch.Tensor] = {}
        pick(self._inputs, found, by_place)
        result: list[torch.Tensor | None] = [None] * len(tensors)
        for place in range(self._count):
            if needed[place]:
                result[place] = input_gradient(by_place.get(place), tensors[place], place, target)
        return result


class ModuleCall(HostCall):
    """One forward of a LuaModule."""

    def __init__(
        self,
        module: Any,
        dtype: torch.dtype,
        inputs: Any,
        count: int,
        parameters: list[tuple[torch.Tensor, int]],
    ) -> None:
        super().__init__(module, dtype, inputs, count)
        self.module = module
        self._parameters = parameters  # pairs of Lua's parameter and its index among the call's tensors
        self._given: list[torch.Tensor] | None = None  # copies of the inputs, if Lua overwrites them

    def forward(self, lease: Lease, tensors: tuple[torch.Tensor, ...]) -> Any:
        """Return Lua's output."""
        given = list(tensors[: self._count])
        if self.module.inplace:
            self._given = given = [tensor.clone() for tensor in given]
        with self._standing_in(tensors):
            output = self.module.call(lease.copy.target, "forward", unflatten(self._inputs, given))
        return numbers_as_tensors(output, self._dtype)

    @contextmanager
    def _standing_in(self, tensors: tuple[torch.Tensor, ...]) -> Iterator[None]:
        """Give Lua's parameters the values of tensors that are used in their place, while Lua computes."""
        swaps = []
        for lua, place in self._parameters:
            value = tensors[place]
            if value.data_ptr() != lua.data_ptr():
                swaps.append((lua, lua.clone()))
                lua.copy_(value)
        try:
            yield
        finally:
            for lua, before in reversed(swaps):
                lua.copy_(before)

    def backward(
        self,
        lease: Lease,
        tensors: tuple[torch.Tensor, ...],
        gradients: list[torch.Tensor],
        needed: tuple[bool, ...],
    ) -> list[torch.Tensor | None]:
        """Return the gradients of the inputs and parameters."""
        module, count, target = self.module, self._count, lease.copy.target
        given = self._given if self._given is not None else list(tensors[:count])
        if module.inplace:
            gradients = [gradient.clone(memory_format=torch.contiguous_format) for gradient in gradients]
        gradOutput = unflatten(self.structure, [gradient.contiguous() for gradient in gradients])
        learning = any(needed[count:])
        with self._standing_in(tensors):
            found, buffers, addresses = module.run(
                module._lua.backward, target, unflatten(self._inputs, given), gradOutput, learning
            )
        result = self._input_gradients(found, tensors, needed, target)
        places = {lua.data_ptr(): place for lua, place in self._parameters}
        seen = set()
        for address, buffer in zip(addresses, buffers, strict=True):
            place = places[address]
            key = (place, buffer.data_ptr(), buffer.shape, buffer.stride())
            if not needed[place] or key in seen:  # a gradient that several modules share is taken once
                continue
            seen.add(key)
            before = result[place]
            result[place] = buffer.clone() if before is None else before + buffer
        return result


def apply(call: Any, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Run a call, recorded by autograd if a tensor requires it."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return list(InLua.apply(call, *tensors))  # type: ignore[no-untyped-call]
    lease, outputs = evaluate(call, tuple(tensor.detach() for tensor in tensors))
    lease.release()
    return outputs


def numbers_as_tensors(value: Any, dtype: torch.dtype) -> Any:
    """Return an output with its numbers as tensors without dimension, so that they can have gradients."""
    if isinstance(value, list):
        return [numbers_as_tensors(item, dtype) for item in value]
    if isinstance(value, dict):
        return {key: numbers_as_tensors(item, dtype) for key, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return torch.tensor(value, dtype=dtype)
    return value


def input_gradient(
    gradient: torch.Tensor | None, given: torch.Tensor, place: int, target: LuaObject
) -> torch.Tensor:
    """Return a copy of an input's gradient. Raises RuntimeError if Lua returned none of the input's size."""
    if gradient is None or gradient.numel() != given.numel():
        size = "none" if gradient is None else f"one of size {tuple(gradient.shape)}"
        raise RuntimeError(
            f"{target.typename} gave {size} as the gradient of input {place}, which has size {tuple(given.shape)}; "
            "if it has none, pass input.detach()"
        )
    return gradient.reshape(given.shape).to(given.dtype, copy=True)
