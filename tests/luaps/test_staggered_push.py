"""Pushes in groups from Lua: on one node and two, of tensors, FFI memory and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from tests.luaps.nodes import Cluster, Nodes, values_of


@pytest.mark.parametrize("options", ["", ", 1", ", 3, true", ", 60, false", ", nil, true"])
def test_it_adds_what_a_push_adds(nodes: Nodes, start: Any, options: str) -> None:
    source = f"""
    local keys, v = {{60, 2, 2, 1, 7, 60}}, {{}}
    for i = 1, 18 do v[i] = i end
    local ended = kv:staggered_push(keys, v{options})
    kv:wait(ended)
    say(kv:is_finished(ended), kv:isFinished(kv:staggeredPush({{}}, {{}})))
    """
    assert start(source, nodes[0].address).finish() == ["true true"]
    expected = np.zeros((60, 3), np.int64)
    np.add.at(expected, np.array([60, 2, 2, 1, 7, 60]) - 1, np.arange(1, 19).reshape(6, 3))
    assert (values_of(nodes[0]) == expected).all()


def test_values_of_different_lengths_are_taken_apart(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[6]', 1, 2, 3, 4, 5, 6)
    say(kv:staggered_push(ffi.new('int64_t[3]', 6, 1, 2), v, 2))
    local out = {} kv:pull({2, 6, 1}, out) say(table.concat(out, ' '))
    """
    assert start(source, cluster(2, 6, [1, 2, 3, 1, 2, 3])[0].address).finish() == ["-1", "5 6 1 2 3 4"]


def test_a_tensor_with_gaps_lives_until_all_groups_are_pushed(lua: bridge.Lua, server: pyps.Server) -> None:
    lua.execute("""
    local v = torch.range(1, 60):float():resize(10, 6):narrow(2, 1, 3)
    kv:staggered_push(torch.range(1, 10):long(), v, 1)
    """)
    with server.worker() as kv:
        out = np.zeros((10, 3), np.float32)
        kv.pull(np.arange(10), out)
    assert out.tolist() == np.arange(1, 61).reshape(10, 6)[:, :3].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "{1, 11}, {1, 2, 3, 4, 5, 6}, 1",
            "luaps: key 11 at position 2 is out of range: the server has keys 1 to 10",
        ),
        ("{1, 2}, {1, 2, 3, 4, 5}, 1", "luaps: the buffer has 5 elements, the keys need 6"),
        ("{1}, {1, 2, 3}, 0", "luaps: group is 0; it must be in [1, "),
        ("{1}, {1, 2, 3}, 1.5", "luaps: group is 1.5; it must be a whole number"),
        ("{1}, {1, 2, 3}, 1, 1", "luaps: async must be true or false, got 1"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    lua: bridge.Lua, server: pyps.Server, contents: Any, arguments: str, message: str
) -> None:
    assert message in lua.eval(f"select(2, pcall(kv.staggered_push, kv, {arguments}))")
    assert not contents(server).any()
