"""Random numbers on a device come from a generator of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import bridge


@pytest.fixture
def device_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """The code for devices, with the CPU as the device."""
    monkeypatch.setenv("MOONTIDE_CUDA", "aten")
    with bridge.Lua() as lua:
        lua.require("cutorch")
        yield lua


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


@pytest.mark.parametrize(
    ("draw", "low", "high", "mean"),
    [
        ("uniform(2, 4)", 2, 4, 3),
        ("normal(5, 1)", -5, 15, 5),
        ("bernoulli(0.25)", 0, 1, 0.25),
        ("bernoulli(torch.CudaTensor(20000):fill(0.75))", 0, 1, 0.75),
        ("exponential(2)", 0, 20, 0.5),
        ("logNormal(0.5, 0.5)", 0, 50, 1.868),
        ("geometric(0.25)", 1, 50, 4 / 3),
        ("random(10)", 1, 10, 5.5),
        ("random(3, 5)", 3, 5, 4),
        ("rand(20000)", 0, 1, 0.5),
        ("randn(20000)", -10, 10, 0),
        ("randperm(20000)", 1, 20000, 10000.5),
    ],
)
def test_draws_follow_their_distribution(
    shared: bridge.Lua, draw: str, low: float, high: float, mean: float
) -> None:
    code = f"cutorch.manualSeed(3) local t = torch.CudaTensor(20000):{draw} return t:min(), t:max(), t:mean()"
    least, most, average = shared.execute(code)
    assert low <= least <= most <= high
    assert average == pytest.approx(mean, abs=0.05)


def test_they_are_torch_s_on_a_device(device_state: bridge.Lua) -> None:
    expected = torch.empty(5)
    with torch.random.fork_rng(devices=[]):
        drawn = device_state.execute("cutorch.manualSeed(5) return torch.CudaTensor(5):normal()")
        torch.manual_seed(5)
        assert drawn.tolist() == expected.normal_().tolist()


def test_categories_are_drawn_by_weight(shared: bridge.Lua) -> None:
    code = """
    cutorch.manualSeed(2)
    local p = torch.CudaTensor{{1, 0, 3}, {0, 1, 0}}
    local drawn = torch.multinomial(p, 4000, true)
    local row = drawn[1]:double()
    local few = p:multinomial(1)
    return torch.type(drawn), row:eq(3):sum() / 4000, row:eq(2):sum(), drawn[2]:min(), few:size():totable()
    """
    kind, share, never, always, size = shared.execute(code)
    assert kind == "torch.CudaLongTensor"
    assert share == pytest.approx(0.75, abs=0.05)
    assert (never, always, size) == (0, 2, [2, 1])


def test_a_generator_of_torch7_draws_what_it_draws_on_the_cpu(shared: bridge.Lua) -> None:
    code = """
    local g = torch.Generator()
    torch.manualSeed(g, 4)
    local there = torch.CudaTensor(3):uniform(g):float()
    torch.manualSeed(g, 4)
    return (there - torch.FloatTensor(3):uniform(g)):abs():max()
    """
    assert shared.execute(code) == 0
