"""A parameter server inside Ray: its nodes are actors, which call the program's functions.

`cluster` starts them and speaks with them, `member` is what happens in an actor.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("ray") is None:
    raise ImportError("pyps.ray needs Ray: pip install 'moontide[ray]'")

from pyps.ray.cluster import Cluster

__all__ = ["Cluster"]
