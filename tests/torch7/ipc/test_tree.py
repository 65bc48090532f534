"""ipc.Tree: nodes that reduce values together, as threads and as processes of this host."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.elements import NUMERIC
from tests.ports import LOOPBACK, free_port

pytestmark = pytest.mark.timeout(60)
NUMBERS = [1, 2, 4, 5]

STATIC = """
require 'torch'
local ipc = require 'ipc'
me, n, port = ...
tree = ipc.StaticTree(me, n, '127.0.0.1', me == 1 and port or nil, '127.0.0.1', port)
function add(a, b) return a + b end
function addto(a, b) return a:add(b) end
"""


def nodes(n: int, code: str, first: str = STATIC) -> list[Any]:
    """What the nodes of a tree return, each a thread with a state of its own; an exception where one failed."""
    port = free_port(LOOPBACK)
    answers: list[Any] = [None] * n

    def run(index: int) -> None:
        try:
            with bridge.Lua(interruptible=False) as lua:
                lua.execute(first, index + 1, n, port)
                answers[index] = lua.execute(textwrap.dedent(code))
        except bridge.LuaError as problem:
            answers[index] = problem

    threads = [threading.Thread(target=run, args=(index,)) for index in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
        assert not thread.is_alive()
    return answers


@pytest.mark.parametrize("n", NUMBERS)
def test_allReduce_gives_every_node_the_sum_in_every_type(n: int) -> None:
    answers = nodes(
        n,
        f"""
        local sums = {{}}
        for _, name in ipairs{{'{"', '".join(NUMERIC)}'}} do
           local t = torch.DoubleTensor(3, 4):fill(me):type('torch.' .. name .. 'Tensor')
           local x, contributed = tree.allReduce(t, addto)
           assert(x == t and x:min() == x:max() and torch.type(x) == 'torch.' .. name .. 'Tensor')
           sums[#sums + 1] = x:min()
           assert(contributed == n)
        end
        return sums
        """,
    )
    assert answers == [[n * (n + 1) / 2] * len(NUMERIC)] * n


@pytest.mark.parametrize("n", NUMBERS)
def test_allReduce_takes_tables_of_tensors_and_numbers(n: int) -> None:
    answers = nodes(
        n,
        """
        local t = {me, w = {torch.ones(5):mul(me), b = 2 * me}}
        tree.allReduce(t, add)
        return {t[1], t.w[1]:sum(), t.w.b, (tree.allReduce(10 * me, add))}
        """,
    )
    total = n * (n + 1) / 2
    assert answers == [[total, 5 * total, 2 * total, 10 * total]] * n


@pytest.mark.parametrize("n", NUMBERS)
def test_scatter_gives_every_node_the_values_of_the_first(n: int) -> None:
    answers = nodes(
        n,
        "local t = {a = torch.Tensor(3):fill(me), b = me} tree.scatter(t) return {t.a:sum(), t.b, tree.scatter(me)}",
    )
    assert answers == [[3, 1, 1]] * n


def test_nodes_may_make_different_numbers_of_steps() -> None:
    answers = nodes(
        3,
        """
        local sums, counts = {}, {}
        for step = 1, me do
           local x, contributed = tree.allReduce({torch.ones(2)}, addto)
           sums[step], counts[step] = x[1]:sum(), contributed
        end
        local zeroed = 0
        local x, contributed = tree.allReduce(nil, addto, function(a) zeroed = zeroed + 1 return a:fill(0) end)
        return {sums, counts, zeroed, contributed}
        """,
    )
    steps = [6, 4, 2]
    for me, (sums, counts, zeroed, contributed) in enumerate(answers, start=1):
        assert sums == steps[:me]
        assert counts == [3, 2, 1][:me]
        assert (zeroed, contributed) == (4 - me, 0)


def test_a_node_that_fails_leaves_nobody_waiting() -> None:
    answers = nodes(
        5,
        """
        for step = 1, 3 do
           if me == 5 and step == 2 then error('node 5 has trouble') end
           tree.allReduce(torch.ones(10), function(a, b)
              if me == 3 and step == 2 then error('cannot add') end
              return a:add(b)
           end)
        end
        """,
    )
    assert all(isinstance(answer, bridge.LuaError) for answer in answers)
    assert "node 5 has trouble" in str(answers[4])
    for answer in answers[:4]:
        assert any(words in str(answer) for words in ("closed the connection", "reset by peer", "cannot add"))


def test_different_sizes_are_told_on_all_nodes() -> None:
    answers = nodes(2, "tree.allReduce(torch.ones(me), addto)")
    assert "torch.DoubleTensor of size 1 is to receive what" in str(answers[0])
    assert isinstance(answers[1], bridge.LuaError)


def test_a_reduction_before_any_value_is_told() -> None:
    answers = nodes(2, "tree.allReduce(nil, addto, function(a) return a end)")
    assert "allReduce: a value is needed the first time" in str(answers[0]) + str(answers[1])


def test_walkTable_goes_by_key_and_replaces() -> None:
    with bridge.Lua() as lua:
        lua.execute("""
            t, seen = {3, 1, z = {5}, a = {b = 4}, keep = 9}, {}
            require('ipc.utils').walkTable(t, function(v)
               seen[#seen + 1] = v
               if v < 9 then return v * 10 end
            end)
        """)
        assert lua.eval("seen") == [3, 1, 4, 9, 5]
        assert lua.eval("t[1], t[2], t.z[1], t.a.b, t.keep") == (30, 10, 50, 40, 9)


@pytest.mark.parametrize("base", [2, 3, 4])
@pytest.mark.parametrize("n", [2, 3, 5, 8, 9, 16, 17])
def test_every_node_but_the_first_has_one_parent_before_it(base: int, n: int) -> None:
    with bridge.Lua() as lua:
        lua.execute(
            """
            local base, n = ...
            parents, children = {}, {}
            local depth = math.ceil(math.log(n) / math.log(base)) - 1
            require('ipc.links')(base, n, 0, depth, function(parent, child)
               assert(not parents[child] and parent < child)
               parents[child] = parent
            end)
            count = 0
            for child in pairs(parents) do count = count + 1 end
            """,
            base,
            n,
        )
        assert lua.eval("count") == n - 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LocalhostTree", "SlurmTree"])
def test_processes_of_this_host_find_each_other(name: str, tmp_path: Path) -> None:
    code = """
        local name, directory = arg[1], arg[2]
        local tree = require('ipc.' .. name)
        if name == 'SlurmTree' then tree = tree(directory, 1, '127.0.0.1')
        else tree = tree(tonumber(os.getenv 'SLURM_PROCID') + 1, 3) end
        local t = require('torch').FloatTensor(2):fill(tree.nodeIndex)
        tree.allReduce(t, function(a, b) return a:add(b) end)
        print(t[1], tree.numNodes, tree.gpu)
    """
    host = "import sys, bridge\nlua = bridge.Lua()\nlua.execute('arg = {...}', *sys.argv[2:])\nlua.execute(sys.argv[1])"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", host, code, name, str(tmp_path / "meet")],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            env={
                **os.environ,
                "SLURM_PROCID": str(task),
                "SLURM_NTASKS": "3",
                "SLURM_JOB_NUM_NODES": "2",
                "SLURM_JOBID": "17",
            },
        )
        for task in range(3)
    ]
    said = [process.communicate(timeout=50)[0].split() for process in running]
    gpus = ["1", "2", "1"] if name == "SlurmTree" else ["nil"] * 3
    assert said == [["6", "3", gpu] for gpu in gpus]
    assert not Path(f"/tmp/{os.getpid()}.localhost").exists()


def test_a_meeting_place_of_somebody_else_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.write_text("127.0.0.1:1\n")
    link = tmp_path / "link"
    link.symlink_to(place)
    with bridge.Lua() as lua, pytest.raises(bridge.LuaError, match="is not a file of this user: remove it"):
        lua.execute("require('ipc.meeting').query(...)", str(link))
