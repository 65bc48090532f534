"""Lua nodes that join a cluster that works."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import pyps
from tests.luaps.nodes import values_of

JOINING = """
local endpoints, nodes = {}, {}
local function node(rank)
   nodes[rank] = luaps.server{num_keys = 10, value_length = 2, dtype = 'int64', rank = rank, places = 3, replicas = 1,
      cluster = 5, heartbeat = 0.1, lost_after = 1}
   endpoints[rank + 1] = nodes[rank]:bind('tcp://127.0.0.1:*')
   return nodes[rank]
end
local first = node(0)
first:connect{endpoints[1]}
local kv = first:worker()
kv:push({1, 10}, {1, 2, 3, 4})
first:table('users', {dim = 1, capacity = 100})
kv:table('users'):push({77}, {5})
for rank = 1, 2 do
   assert(first:free_place() == rank)
   say(first:take_place())
   local known = first:endpoints()
   node(rank)
   known[rank + 1] = endpoints[rank + 1]
   nodes[rank]:join(known, 20)
   local there, found = nodes[rank]:worker(), {}
   there:push({1}, {1, 1})
   there:pull({1, 10}, found)
   say(table.concat(found, ' '), table.concat(nodes[rank]:members(), ' '), nodes[rank]:num_nodes(), nodes[rank]:rank())
   there:table('users'):push({77}, {rank})
   local row = {}
   there:table('users'):pull({77}, row)
   say(row[1])
   there:finalize()
end
say(first:free_place(), table.concat(first:endpoints(), ' ') == table.concat(endpoints, ' '))
say(select(2, pcall(nodes[2].join, nodes[2], 5)))
say(select(2, pcall(first.join, first, endpoints, 1)))
say(nodes[2]:address())
io.open(select(3, ...)):read()
kv:finalize()
"""


@pytest.fixture
def zmq_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPS_ZMQ", library)


@pytest.mark.usefixtures("zmq_library")
def test_lua_nodes_join_and_python_attaches_to_them(luajit: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "end")
    program = luajit(JOINING, "", 0, tmp_path / "end")
    assert [program.line() for _ in range(9)] == [
        "1",
        "2 3 3 4 0 1 1 1",
        "6",
        "2",
        "3 4 3 4 0 1 2 1 2",
        "8",
        "nil true",
        "luaps: endpoints must be a table of strings, got 5",
        (
            "luaps: node 0 is one of those with which the cluster starts: connect it, or join with a number from "
            "num_nodes on (PS_EINVAL)"
        ),
    ]
    with pyps.attach(program.line()) as node:
        assert (node.rank, node.places, node.members) == (2, 3, [0, 1, 2])
        assert values_of(node)[[0, 9]].tolist() == [[3, 4], [3, 4]]
    (tmp_path / "end").write_text("\n")
    assert program.finish() == []
