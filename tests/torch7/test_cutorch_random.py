"""Random numbers on a device come from a generator of its own."""

from __future__ import annotations

import pytest

import bridge


def test_the_device_has_random_numbers_of_its_own(cuda: bridge.Lua) -> None:
    code = """
    torch.manualSeed(7)
    local cpu = torch.uniform()
    torch.manualSeed(7)
    cutorch.manualSeed(5)
    local state = cutorch.getRNGState()
    local first = torch.CudaTensor(3):uniform():totable()
    local same = torch.uniform() == cpu
    cutorch.setRNGState(state)
    local second = torch.CudaTensor(3):uniform():totable()
    cutorch.manualSeedAll(5)
    local third = torch.CudaTensor(3):uniform():totable()
    return same, first, second, third, cutorch.initialSeed(), cutorch.seed() ~= 5
    """
    same, first, second, third, seed, reseeded = cuda.execute(code)
    assert same is True
    assert first == second == third
    assert (seed, reseeded) == (5, True)


@pytest.mark.parametrize(
    "draw",
    [
        "uniform(1, 2)",
        "normal()",
        "bernoulli(0.5)",
        "exponential(1)",
        "random(10)",
        "geometric(0.5)",
        "cauchy()",
    ],
)
def test_draws_fill_the_tensor(shared: bridge.Lua, draw: str) -> None:
    code = f"local t = torch.CudaTensor(50):fill(-77) t:{draw} return t:eq(-77):sum(), torch.type(t)"
    assert shared.execute(code) == (0, "torch.CudaTensor")
