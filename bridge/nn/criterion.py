"""`LuaCriterion`: a Lua nn.Criterion as a torch loss."""

from __future__ import annotations

from typing import Any

import torch

from bridge.nn.call import HostCall, apply, numbers_as_tensors
from bridge.nn.host import LuaHost
from bridge.nn.leases import Lease
from bridge.nn.trees import flatten, unflatten


class LuaCriterion(LuaHost):
    """A Torch7 criterion as a PyTorch loss: `criterion(input, target)`, with gradients by autograd.

    Parameters
    ----------
    net : bridge.legacy.nn.Criterion or LuaObject
        The Lua criterion.
    base : {0, 1}
        The number of the first class in targets: 0 as in Python, or 1 as in Lua.

    Raises
    ------
    TypeError
        `net` is not a Lua criterion. From a call: an input's dtype is not the criterion's (`.float()` and `.double()`
        convert the criterion), or the target requires grad, for which Torch7's criterions have no gradient.
    LuaError
        From a call: an error in Lua.
    """

    parent = "nn.Criterion"

    def forward(self, input: Any, target: Any) -> torch.Tensor:  # noqa: A002, Torch7's and PyTorch's name
        """Return the loss of an input (a tensor or a list of tensors) and a target, as a tensor without dimension."""
        tensors: list[torch.Tensor] = []
        inputs = flatten(input, tensors)
        count = len(tensors)
        targets = flatten(target, tensors)
        if any(tensor.requires_grad for tensor in tensors[count:]):
            raise TypeError(f"{self._target.typename} has no gradient for its target; pass target.detach()")
        with self._session.state:
            dtype = self.check(tensors[:count])
            call = CriterionCall(self, dtype, inputs, targets, count)
            return apply(call, tensors)[0]


class CriterionCall(HostCall):
    """One forward of a LuaCriterion."""

    def __init__(
        self, criterion: LuaCriterion, dtype: torch.dtype, inputs: Any, targets: Any, count: int
    ) -> None:
        super().__init__(criterion, dtype, inputs, count)
        self.criterion = criterion
        self._targets = targets

    def _arguments(self, tensors: tuple[torch.Tensor, ...]) -> tuple[Any, Any]:
        return unflatten(self._inputs, tensors), unflatten(self._targets, tensors)

    def forward(self, lease: Lease, tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the loss."""
        loss = self.criterion.call(lease.copy.target, "forward", *self._arguments(tensors))
        if isinstance(loss, list):  # some criterions also return a total weight
            loss = loss[0]
        value: torch.Tensor = numbers_as_tensors(loss, self._dtype)
        return value.reshape(())

    def backward(
        self,
        lease: Lease,
        tensors: tuple[torch.Tensor, ...],
        gradients: list[torch.Tensor],
        needed: tuple[bool, ...],
    ) -> list[torch.Tensor | None]:
        """Return the gradients of the inputs; targets have none."""
        target = lease.copy.target
        found = self.criterion.call(target, "backward", *self._arguments(tensors))
        result = self._input_gradients(found, tensors, needed, target)
        return [gradient if gradient is None else gradient * gradients[0] for gradient in result]
