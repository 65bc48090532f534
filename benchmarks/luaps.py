"""The parameter server from Lua beside pyps from Python: the same keys of one store, in the same process.

Both sides loop over calls in their own language, so the numbers are what a program in it pays for a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import bridge
import pyps
from benchmarks.harness import Row, seconds_per_call

NAME = "luaps: calls from Lua"
NUM_KEYS, LENGTH = 1_000_000, 10  # 40 MB of values, more than the caches hold
BATCHES = 100  # calls in one turn, each with keys of its own
COUNTS = (1, 10, 1000)
OPERATIONS = ("pull", "push", "set")
TARGETS = {("pull", 1): "<= 0.5 us", ("pull", 1000): "<= 30 us", ("push", 1000): "<= 35 us"}
# Makes, for an operation, a function that does it once with every batch: with tensors, or with plain FFI memory.
PROGRAM = """
require 'torch'
local ffi, luaps = require 'ffi', require 'luaps'
local address, numbers, length, plain = ...
local kv = luaps.worker{address = address}
local n = numbers:size(2)
local batches, values = {}, torch.FloatTensor(n, length):fill(1)
for i = 1, numbers:size(1) do
   local keys = numbers[i] + 1
   if plain then
      local memory = ffi.new('int64_t[?]', n)
      for j = 1, n do memory[j - 1] = keys[j] end
      keys = luaps.buffer(memory)
   end
   batches[i] = keys
end
if plain then values = luaps.buffer(ffi.new('float[?]', n * length)) end
return function(operation)
   local operate = kv[operation]
   return function()
      for i = 1, #batches do operate(kv, batches[i], values) end
   end
end
"""


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    with pyps.Server(NUM_KEYS, LENGTH) as server, server.worker() as kv:
        kv.push(np.arange(NUM_KEYS), np.ones((NUM_KEYS, LENGTH), np.float32))
        return [row for count in COUNTS for row in calls(server, kv, count, quick)]


def calls(server: pyps.Server, kv: pyps.Worker, count: int, quick: bool) -> list[Row]:
    """Time each operation with `count` keys, from both languages in turn."""
    numbers = np.random.default_rng(count).integers(0, NUM_KEYS, (BATCHES, count))
    rows = []
    with bridge.Lua(interruptible=False) as lua:
        tensors = lua.execute(PROGRAM, server.address, numbers, LENGTH, False)
        memory = lua.execute(PROGRAM, server.address, numbers, LENGTH, True)
        for operation in OPERATIONS:
            functions = (tensors(operation), memory(operation), from_python(kv, operation, numbers))
            times = [1e6 * t / BATCHES for t in seconds_per_call(*functions, quick=quick)]
            for kind, ours in zip(("tensors", "FFI memory"), times, strict=False):
                rows.append(
                    Row(
                        table=f"{NAME}, values of {LENGTH} float32",
                        what=f"{operation} {count} key{'s' if count > 1 else ''}, {kind}",
                        ours=ours,
                        unit="us",
                        peer="pyps, torch tensors",
                        theirs=times[-1],
                        target=TARGETS.get((operation, count), ""),
                    )
                )
    return rows


def from_python(kv: pyps.Worker, operation: str, numbers: NDArray[Any]) -> Callable[[], None]:
    """Return the same loop in Python."""
    batches = [torch.from_numpy(batch) for batch in numbers]
    values = torch.ones(numbers.shape[1], LENGTH)
    operate = getattr(kv, operation)

    def loop() -> None:
        for keys in batches:
            operate(keys, values)

    return loop
