"""A model in a process of its own.

`area` is the memory that both processes share. `values` converts values for the other process: arrays are put into that
memory, everything else becomes JSON, so that neither process has to trust the other's bytes. `channel` sends messages,
`faults` sends exceptions, `running` has the process and its connections, `worker` is the program that runs in it.
`handle` is the interface for threads, `member` the one for asyncio.
"""

from __future__ import annotations

from bridge.serve.process.handle import ModelProcess
from bridge.serve.process.member import Member
from bridge.serve.process.running import CallTimeout, Description, ProcessLost, Wanted

__all__ = ["CallTimeout", "Description", "Member", "ModelProcess", "ProcessLost", "Wanted"]
