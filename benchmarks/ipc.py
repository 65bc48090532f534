"""ipc.Tree's allReduce from Lua beside torch.distributed's over gloo: two processes of this host, in turn."""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.queues import Queue
from typing import Any

from benchmarks.harness import Row

NAME = "ipc: allReduce between processes"
SIZES = (1000, 1_000_000)  # floats
NODES = 2
PATIENCE = 120  # seconds that the processes get

PROGRAM = """
require 'torch'
local me, nodes, port = ...
local tree = require 'ipc.StaticTree'(me, nodes, '127.0.0.1', me == 1 and port or nil, '127.0.0.1', port)
return function(n)
   local t = torch.FloatTensor(n):fill(0)
   local function add(a, b) return a:add(b) end
   return function() tree.allReduce(t, add) end
end
"""


def run(quick: bool) -> list[Row]:
    """Measure every size; `quick` only sees that it works."""
    context = multiprocessing.get_context("spawn")
    results: Queue[list[Row]] = context.Queue()
    with tempfile.TemporaryDirectory() as directory, socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        sock.close()
        nodes = [
            context.Process(target=node, args=(rank, port, directory, quick, results))
            for rank in range(NODES)
        ]
        for process in nodes:
            process.start()
        try:
            rows = results.get(timeout=PATIENCE)
        finally:
            for process in nodes:
                process.join(10)
                process.kill()
                process.join()
    results.close()
    results.join_thread()
    return rows


def node(rank: int, port: int, directory: str, quick: bool, results: Queue[list[Row]]) -> None:
    """Take part in both kinds of reduction; the first node tells how long they took."""
    import torch
    import torch.distributed as dist

    import bridge

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{directory}/meet", rank=rank, world_size=NODES)
    rows = []
    with bridge.Lua() as lua:
        reduction = lua.execute(PROGRAM, rank + 1, NODES, port)
        for size in SIZES:
            tensor = torch.zeros(size)
            ours, theirs = _in_turn(
                (reduction(size), partial(dist.all_reduce, tensor)),
                rounds=2 if quick else 15,
                calls=2 if quick else 20,
            )
            rows.append(
                Row(
                    table=NAME,
                    what=f"{size:,} floats, {NODES} nodes",
                    ours=ours * 1e6,
                    theirs=theirs * 1e6,
                    unit="us",
                    peer="gloo's all_reduce",
                )
            )
    dist.destroy_process_group()
    if rank == 0:
        results.put(rows)


def _in_turn(functions: tuple[Callable[[], Any], ...], *, rounds: int, calls: int) -> list[float]:
    """Median seconds of one call of each: all nodes make the same number of calls."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, taken in zip(functions, times, strict=True):
            function()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            taken.append((time.perf_counter() - start) / calls)
    return [statistics.median(taken) for taken in times]
