"""A model in a process of its own.

`area` is the memory that both processes see, `values` what travels (arrays in that memory, all else as JSON, so that
neither side trusts the other's bytes), `channel` the messages, `faults` what went wrong, `running` the process and what
connects it, `worker` what runs there. `handle` is for threads, `member` for asyncio.
"""

from __future__ import annotations

from bridge.serve.process.handle import ModelProcess
from bridge.serve.process.member import Member
from bridge.serve.process.running import CallTimeout, Description, ProcessLost, Wanted

__all__ = ["CallTimeout", "Description", "Member", "ModelProcess", "ProcessLost", "Wanted"]
