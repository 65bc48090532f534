"""What values begin with, from Lua."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps


@pytest.mark.parametrize(
    "written", ["'uniform:low=-2,high=2,seed=5'", "{'uniform', low = -2, high = 2, seed = 5}"]
)
def test_a_server_begins_with_the_same_numbers_in_both_languages(start: Any, written: str) -> None:
    source = f"""
    local server = luaps.server{{num_keys = 100, value_length = 2, dtype = 'float64', initializer = {written}}}
    local kv, v = server:worker{{base = 0}}, ffi.new('double[2]')
    kv:pull(77, v) say(string.format('%.17g %.17g', v[0], v[1]))
    server:shutdown()
    """
    (line,) = start(source, "").finish()
    first = pyps.initializers.Uniform(-2, 2, seed=5)
    with (
        pyps.Server(100, 2, dtype="float64", initializer=first) as server,
        server.worker() as kv,
    ):
        assert kv.pull([77]).ravel().tolist() == np.array(line.split(), np.float64).tolist()


def test_what_is_wrong_is_named(start: Any) -> None:
    source = """
    say(pcall(luaps.server, {num_keys = 1, initializer = 3}))
    say(pcall(luaps.server, {num_keys = 1, initializer = {'normal', std = '1'}}))
    say(pcall(luaps.server, {num_keys = 1, initializer = 'normal:std=-1'}))
    """
    kind, number, negative = start(source, "").finish()
    assert (
        "initializer must be a text like 'normal:std=0.1' or a table like {'normal', std = 0.1}, got 3"
        in kind
    )
    assert "std must be a number" in number
    assert "std is -1; it must be in [0, inf)" in negative
