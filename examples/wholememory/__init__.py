"""Programs that share memory between processes: `hogwild` across Python and Lua, `graphsage` on a large graph."""

from __future__ import annotations
