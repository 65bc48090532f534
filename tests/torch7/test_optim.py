"""optim: the trajectories that a real Torch7 took, and what its algorithms and classes promise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge import t7

TRUTH: dict[str, dict[str, Any]] = t7.load(
    Path(__file__).parents[1] / "data" / "torch7" / "files" / "optim.t7"
)

FUNCTIONS = """
torch.setdefaulttensortype('torch.DoubleTensor')
require 'optim'
function rosenbrock(x)
   local a, b = x[1], x[2]
   local f = 100 * (b - a * a) ^ 2 + (1 - a) ^ 2
   return f, torch.Tensor{-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)}
end
-- Its minimum is 0 at (1, 2, 3).
local centre = torch.Tensor{1, 2, 3}
function quadratic(x)
   local gradient = x - centre
   local scale = torch.Tensor{1, 2, 4}
   return torch.cmul(gradient, gradient):dot(scale) / 2, gradient:cmul(scale)
end
-- The points and values of `count` calls of an algorithm.
function run(name, config, x, count)
   x = x:clone()
   config.lineSearch = config.lineSearch and optim.lswolfe -- the file has true for the function
   local trajectory, fs = {}, {}
   for i = 1, count do
      local found, values = optim[name](rosenbrock, x, config)
      assert(found == x)
      trajectory[i], fs[i] = x:clone(), values
   end
   return trajectory, fs
end
"""

# Line searches make much of a last digit: a start that is off by one ends a call off by 1e-14, three calls by 1e-7. So
# cg, which remembers nothing, begins each call where Torch7 did; lbfgs goes on from its own memory.
TOLERANCES = {"cg": 1e-10, "lbfgs_ls": 1e-9}


@pytest.fixture
def optim() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.execute(FUNCTIONS)
        yield lua


@pytest.mark.parametrize("name", TRUTH)
def test_takes_the_steps_of_torch7(optim: bridge.Lua, name: str) -> None:
    entry = TRUTH[name]
    starts = [entry["x0"], *entry["trajectory"][:-1]] if name == "cg" else [entry["x0"]]
    trajectory, fs = [], []
    for start in starts:
        points, values = optim.execute(
            "return run(...)",
            name.split("_", maxsplit=1)[0],
            dict(entry["config"]),
            start,
            len(entry["trajectory"]) // len(starts),
        )
        trajectory += points
        fs += values
    tolerance = TOLERANCES.get(name, 1e-12)
    assert [len(values) for values in fs] == [len(values) for values in entry["fs"]]
    np.testing.assert_allclose(np.concatenate(fs), np.concatenate(entry["fs"]), rtol=tolerance)
    np.testing.assert_allclose(trajectory, entry["trajectory"], rtol=tolerance)


STEPS = {
    "sgd": {"learningRate": 0.1, "momentum": 0.5, "dampening": 0.0},
    "asgd": {"eta0": 0.1, "t0": 0},
    "nag": {"learningRate": 0.05},
    "adagrad": {"learningRate": 1.0},
    "adadelta": {"eps": 1e-2},
    "adam": {"learningRate": 0.1},
    "adamax": {"learningRate": 0.1},
    "rmsprop": {"learningRate": 0.005},
    "rprop": {},
}
RUNS = {"cg": {}, "lbfgs": {}}
# Those without a gradient leave x as it is, and give a vector back.
SEARCHES = {
    "cmaes": {"sigma": 0.5, "maxEval": 3000, "verb_disp": 0},
    "de": {"maxFEs": 6000, "scaleFactor": 0.5, "crossoverRate": 0.9},
}


@pytest.mark.parametrize("kind", ["Double", "Float"])
@pytest.mark.parametrize("name", STEPS)
def test_steps_lead_to_the_minimum_of_a_quadratic(optim: bridge.Lua, name: str, kind: str) -> None:
    code = """
    local name, config, kind = ...
    local x = torch.Tensor{0, 0, 0}:type('torch.' .. kind .. 'Tensor')
    for _ = 1, 2000 do
       optim[name](function(at)
          local f, gradient = quadratic(at:double())
          return f, gradient:typeAs(at)
       end, x, config)
    end
    assert(x:type() == 'torch.' .. kind .. 'Tensor')
    return x
    """
    found = optim.execute(code, name, STEPS[name], kind)
    np.testing.assert_allclose(found, [1, 2, 3], atol=0.02)


@pytest.mark.parametrize("name", RUNS)
def test_one_call_finds_the_minimum_of_a_quadratic(optim: bridge.Lua, name: str) -> None:
    code = """
    local name, config = ...
    torch.manualSeed(1)
    local x = torch.Tensor{0, 0, 0}
    local found, values = optim[name](quadratic, x, config)
    return x, values, found == x
    """
    x, values, same = optim.execute(code, name, RUNS[name])
    np.testing.assert_allclose(x, [1, 2, 3], atol=1e-4)
    assert same
    assert values[0] == 22.5
    assert values[-1] < 1e-7


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_gives_the_minimum_back_and_leaves_x_alone(optim: bridge.Lua, name: str) -> None:
    code = """
    local name, config = ...
    torch.manualSeed(1)
    local x = torch.zeros(3, 1)
    local found, values, evaluations = optim[name](function(at) return quadratic(at:view(-1)) end, x, config)
    return x:sum(), found, values, evaluations
    """
    x, found, values, evaluations = optim.execute(code, name, SEARCHES[name])
    assert x == 0
    np.testing.assert_allclose(found, [1, 2, 3], atol=1e-4)
    if name == "cmaes":
        assert (values[0], values[-1]) == (22.5, min(values))
        assert evaluations % 7 == 0
        assert len(values) == evaluations / 7 + 2
    else:
        assert isinstance(values, np.ndarray)
        assert values.shape == (6000,)
        assert evaluations is None


def test_differential_evolution_draws_from_a_generator_of_its_own(optim: bridge.Lua) -> None:
    code = """
    local function search() return optim.de(quadratic, torch.zeros(3), {maxFEs = 300}) end
    torch.manualSeed(1)
    local one = search()
    local drawn = torch.uniform()
    torch.manualSeed(1)
    return one:equal((search())), drawn == torch.uniform()
    """
    assert optim.execute(code) == (True, True)


def test_cmaes_says_why_it_ends(optim: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    optim.execute("torch.manualSeed(1) optim.cmaes(quadratic, torch.zeros(3), {maxEval = 14, verb_disp = 1})")
    out = capsys.readouterr().out
    assert out.startswith("evals:\t ax-ratio max(std)   f-value\n7:     1.0 ")
    assert "termination by\tevals\t=\t14\n" in out
    assert "best found at iteration: \t" in out


def test_cg_goes_on_where_the_number_of_evaluations_is_no_whole_one(optim: bridge.Lua) -> None:
    code = """
    local x, state = torch.zeros(3), {}
    local _, values, evaluations = optim.cg(quadratic, x, {maxIter = 5}, state)
    local _, gradient = quadratic(x)
    return values, evaluations, state.df1:equal(gradient)
    """
    values, evaluations, remembered = optim.execute(code)
    assert evaluations >= 6
    assert values[-1] < values[0]
    assert remembered
    rest = optim.execute(
        "return select(3, optim.cg(quadratic, ..., {maxIter = 5}))", np.array([1.0, 2.0, 3.0])
    )
    assert rest < 10


@pytest.mark.parametrize(
    "config",
    [
        {"learningRate": 0.1, "learningRateDecay": 0.5},
        {"learningRate": 0.1, "weightDecay": 0.3},
        {"learningRate": 0.1, "momentum": 0.9},
        {"learningRate": 0.1, "momentum": 0.9, "dampening": 0.2},
        {"learningRate": 0.1, "momentum": 0.9, "dampening": 0, "nesterov": True},
    ],
    ids=str,
)
def test_sgd_computes_what_its_formulas_say(optim: bridge.Lua, config: dict[str, Any]) -> None:
    code = """
    local config = ...
    local x, state = torch.Tensor{0, 0, 0}, {}
    for _ = 1, 7 do optim.sgd(quadratic, x, config, state) end
    assert(config.evalCounter == nil and state.evalCounter == 7)
    return x
    """
    found = optim.execute(code, config)
    x, buffer = np.zeros(3), None
    momentum = config.get("momentum", 0.0)
    dampening = config.get("dampening", momentum)
    for i in range(7):
        gradient = (x - [1, 2, 3]) * [1, 2, 4] + config.get("weightDecay", 0) * x
        if momentum:
            buffer = gradient.copy() if buffer is None else momentum * buffer + (1 - dampening) * gradient
            gradient = gradient + momentum * buffer if config.get("nesterov") else buffer
        x = x - 0.1 / (1 + i * config.get("learningRateDecay", 0)) * gradient
    np.testing.assert_allclose(found, x, rtol=1e-12)


def test_each_parameter_may_have_its_own_rate_and_decay(optim: bridge.Lua) -> None:
    code = """
    local x = torch.Tensor{1, 1, 1}
    optim[...](quadratic, x, {learningRate = 0.1, momentum = 0.9, learningRates = torch.Tensor{1, 0, 2},
       weightDecays = torch.Tensor{1, 1, 0}})
    return x
    """
    for name in ("sgd", "nag"):  # the gradient at (1, 1, 1) is (0, -2, -8)
        np.testing.assert_allclose(optim.execute(code, name), [0.9, 1.0, 2.6])


def test_nesterov_needs_momentum_without_dampening(optim: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="requires a momentum and zero dampening"):
        optim.execute("optim.sgd(quadratic, torch.zeros(3), {nesterov = true, momentum = 0.9})")


def test_a_state_table_keeps_what_config_would(optim: bridge.Lua) -> None:
    code = """
    local config, state = {learningRate = 0.1}, {}
    local x = torch.zeros(3)
    optim.adam(quadratic, x, config, state)
    return state.t == 1 and state.m:nElement() == 3 and config.t == nil
    """
    assert optim.execute(code)


def test_asgd_gives_the_average_too(optim: bridge.Lua) -> None:
    code = """
    local x, config, seen = torch.zeros(3), {eta0 = 0.1, t0 = 0}, {}
    local average
    for i = 1, 5 do
       local _, _, ax = optim.asgd(quadratic, x, config)
       seen[i], average = x:clone(), ax
    end
    return seen, average
    """
    seen, average = optim.execute(code)
    # The weights are 1, 1, 1/2, 1/3, 1/4: the first point is replaced, then it is a running mean.
    np.testing.assert_allclose(average, np.mean(seen[1:], axis=0), rtol=1e-12)


def test_fista_solves_the_lasso(optim: bridge.Lua) -> None:
    code = """
    local target = torch.Tensor{3, -0.5, 0.2, -2}
    local lambda = 1
    local function smooth(x, derivative)
       local gradient = x - target
       local f = gradient:dot(gradient) / 2
       if derivative then return f, gradient end
       return f
    end
    local function absolute(x) return lambda * torch.abs(x):sum() end
    local function shrink(x, L)
       local size = torch.abs(x):add(-lambda / L):cmax(0)
       x:sign():cmul(size)
    end
    local params = {errthres = 1e-12, maxiter = 200}
    local x, history = optim.FistaLS(smooth, absolute, shrink, torch.zeros(4), params)
    return x, history[#history].F, params.L
    """
    x, value, last = optim.execute(code)
    np.testing.assert_allclose(x, [2, 0, 0, -1], atol=1e-4)
    assert value == pytest.approx(0.5 * (1 + 0.25 + 0.04 + 1) + 3, abs=1e-6)
    assert last >= 1 / 1.5


def test_polyinterp_finds_the_minimum_of_a_cubic(optim: bridge.Lua) -> None:
    # x^3 - 3x has its minimum at 1.
    code = """
    local function row(x) return {x, x ^ 3 - 3 * x, 3 * x * x - 3} end
    return optim.polyinterp(torch.Tensor{row(0), row(1.5)})
    """
    assert optim.execute(code) == pytest.approx(1)


def test_polyinterp_takes_points_without_slope(optim: bridge.Lua) -> None:
    # Three values of (x - 1)^2, the slope of none.
    code = "return optim.polyinterp(torch.Tensor{{0, 1, 0/0}, {1.5, 0.25, 0/0}, {3, 4, 0/0}})"
    x, f = optim.execute(code)
    assert x == pytest.approx(1)
    assert f == pytest.approx(0, abs=1e-9)


def test_lswolfe_ends_where_the_wolfe_conditions_hold(optim: bridge.Lua) -> None:
    code = """
    local x = torch.Tensor{-1.2, 1}
    local f, g = rosenbrock(x)
    local d = -g
    local gtd = g:dot(d)
    local f2, g2, x2, t, count = optim.lswolfe(rosenbrock, x:clone(), 1, d, f, g, gtd, {})
    return f, gtd, f2, g2:dot(d), t, count, (x2 - x):add(-t, d):norm()
    """
    f, slope, f2, slope2, t, count, off = optim.execute(code)
    assert f2 <= f + 1e-4 * t * slope
    assert abs(slope2) <= -0.9 * slope
    assert count > 1
    assert off < 1e-12


def test_lswolfe_comes_back_from_where_the_function_has_no_value(optim: bridge.Lua) -> None:
    code = """
    -- x - log x, minimum 1 at 1, NaN below 0
    local function barrier(x)
       return x[1] - math.log(x[1]), torch.Tensor{1 - 1 / x[1]}
    end
    local x = torch.Tensor{4}
    local f, g = barrier(x)
    local f2 = optim.lswolfe(barrier, x, 20, -g, f, g, -g:dot(g))
    return f, f2
    """
    before, after = optim.execute(code)
    assert after < before - 1


def test_checkgrad_tells_right_from_wrong(optim: bridge.Lua) -> None:
    code = """
    local x = torch.Tensor{-1.2, 1}
    local right, dC, estimate = optim.checkgrad(rosenbrock, x)
    local wrong = optim.checkgrad(function(at)
       local f, g = rosenbrock(at)
       return f, g:mul(2)
    end, x)
    return right, wrong, dC, estimate, x
    """
    right, wrong, exact, estimate, x = optim.execute(code)
    assert right < 1e-7
    assert wrong == pytest.approx(1 / 3, rel=1e-5)
    np.testing.assert_allclose(estimate, exact, rtol=1e-5)
    assert x.tolist() == [-1.2, 1]
