"""The autograd function whose forward and backward run in Lua."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch.autograd.function import once_differentiable

from bridge._boundary import State
from bridge.nn.leases import Lease
from bridge.nn.trees import flatten


class Call(Protocol):
    """One forward, and the backward that belongs to it."""

    state: State
    structure: Any

    def take(self) -> Lease:
        """Lease a copy for this forward."""

    def forward(self, lease: Lease, tensors: tuple[torch.Tensor, ...]) -> Any:
        """Return the output, which shares Lua's memory."""

    def backward(
        self,
        lease: Lease,
        tensors: tuple[torch.Tensor, ...],
        gradients: list[torch.Tensor],
        needed: tuple[bool, ...],
    ) -> list[torch.Tensor | None]:
        """Return the gradient of each tensor of the forward, as a copy."""


def evaluate(call: Call, tensors: tuple[torch.Tensor, ...]) -> tuple[Lease, list[torch.Tensor]]:
    """Run a forward. Its outputs are copies, because Lua overwrites its own."""
    with call.state:
        lease = call.take()
        outputs: list[torch.Tensor] = []
        call.structure = flatten(call.forward(lease, tensors), outputs)
        return lease, [output.clone() for output in outputs]


class InLua(torch.autograd.Function):
    """`apply(call, *tensors)`: the outputs of a call, with its backward in Lua."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Run the forward."""
        ctx.lease, outputs = evaluate(call, tuple(tensor.detach() for tensor in tensors))
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*[output for output in outputs if not output.is_floating_point()])
        return tuple(outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Run the backward in the copy that ran the forward."""
        call, lease = ctx.call, ctx.lease
        tensors = tuple(tensor.detach() for tensor in ctx.saved_tensors)
        with call.state:
            if not lease.holds:
                raise RuntimeError(
                    "backward through this Lua module after another forward ran in it: what the first one left is "
                    "overwritten (its first backward would have been in time); call the module again"
                )
            found = call.backward(
                lease, tensors, [gradient.detach() for gradient in gradients], ctx.needs_input_grad[1:]
            )
            lease.release()
        return (None, *found)
