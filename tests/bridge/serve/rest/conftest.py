"""One server for the tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridge.serve.serving import Running, save_digits, serving

FUNCTIONS = """
require 'torch'
local ffi = require 'ffi'
ffi.cdef 'int raise(int);'
local M = {}
function M.greet(name, n) return {text = ('hi ' .. name .. ' '):rep(n or 1), parts = {1, 2.5, 1/0}} end
function M.first(list, place) return list[1], place end
function M.double(x) return x * 2 end
function M.fail(why) error(why) end
function M.loop() while true do end end
function M.crash() ffi.C.raise(11) end
function M.eat() local t = {} while true do t[#t + 1] = torch.zeros(1e6) end end
function M.object() return require('nn').Linear(2, 2) end
function M.any(...) return select('#', ...) end
return M
"""


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a network and a file of functions."""
    directory = tmp_path_factory.mktemp("models")
    save_digits(directory / "digits.t7")
    (directory / "functions.lua").write_text(FUNCTIONS)
    return directory


@pytest.fixture(scope="package")
def server(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("server")
    with serving(place, models, "--memory", "400M", "--body-limit", "8M") as running:
        yield running
