"""Programs to learn from; each runs as it stands."""

from __future__ import annotations
