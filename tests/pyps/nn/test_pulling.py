"""Pulls that overlap the forward, from a node that is far away."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from pyps.nn.dense.pulling import PART_BYTES, parts_of
from tests.pyps.cluster import Cluster
from tests.pyps.nn.dense import assert_close, backward, distributed, filled

WIDTH = 300  # a layer has more bytes than PART_BYTES


class Attending(nn.Module):
    """Layers, and an attention that uses the weight of a submodule without calling it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.attention = nn.MultiheadAttention(WIDTH, 2)
        filled(self, 0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.mul_(0.25)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.layers(inputs)
        output: torch.Tensor = self.attention(hidden, hidden, hidden)[0]
        return output


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_a_forward_uses_the_values_of_its_pull(compiled: bool) -> None:
    """Each module waits for its own; a late value would make other gradients."""
    net = Attending()
    expected = copy.deepcopy(net)
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)
    module = torch.compile(net, backend="eager") if compiled else net
    with (
        Cluster(2, 1, slow=True, transport="memory") as cluster,
        cluster.nodes[0].worker() as kv,
        distributed(kv, module) as model,  # type: ignore[arg-type]
    ):
        for step in range(5):
            inputs = torch.full((4, WIDTH), 0.1 * (step + 1))
            optimizer.zero_grad()
            backward(expected(inputs).square().mean())
            optimizer.step()
            backward(model(inputs).square().mean())
        waits = [name for name, one in net.named_modules() if one._forward_pre_hooks]
        assert waits == (
            [] if compiled else ["layers.0", "layers.1", "layers.2", "attention", "attention.out_proj"]
        )
    assert_close(net.state_dict(), expected.state_dict())
    assert not any(one._forward_pre_hooks for one in net.modules())


def test_parts_have_enough_bytes_and_whole_modules() -> None:
    one, two, three = nn.Tanh(), nn.Tanh(), nn.Tanh()
    enough = PART_BYTES
    assert list(parts_of([one], [1])) == [(0, 1)]
    assert list(parts_of([one, two], [1, 1])) == [(0, 2)]
    assert list(parts_of([one, one, two], [enough, 1, 1])) == [(0, 2), (2, 3)]
    assert list(parts_of([one, two, three], [1, enough, enough])) == [(0, 2), (2, 3)]
