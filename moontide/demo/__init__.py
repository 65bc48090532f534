"""The main job: Lua and PyTorch workers train the same digit classifier on the same parameters.

In reading order: data, layout (which key holds which parameters), torch_worker and lua_worker (the model of
each side), worker (one process), messages and crew (the processes), report, run.
"""

from __future__ import annotations
