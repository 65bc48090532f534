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

# A line search multiplies the rounding of the function's last digit; the others take the very same steps.
TOLERANCES = {"cg": 1e-6, "lbfgs_ls": 1e-9}


@pytest.fixture
def optim() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.execute(FUNCTIONS)
        yield lua


@pytest.mark.parametrize("name", TRUTH)
def test_takes_the_steps_of_torch7(optim: bridge.Lua, name: str) -> None:
    entry = TRUTH[name]
    trajectory, fs = optim.execute(
        "return run(...)", name.split("_")[0], dict(entry["config"]), entry["x0"], len(entry["trajectory"])
    )
    tolerance = TOLERANCES.get(name, 1e-12)
    assert [len(values) for values in fs] == [len(values) for values in entry["fs"]]
    np.testing.assert_allclose(np.concatenate(fs), np.concatenate(entry["fs"]), rtol=tolerance)
    np.testing.assert_allclose(trajectory, entry["trajectory"], rtol=tolerance)
