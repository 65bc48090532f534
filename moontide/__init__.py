"""The command line and the demo: the one package that uses both halves, `bridge` and `pyps`."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("moontide")
