"""Benchmarks against peers measured in the same run: `python -m benchmarks`; one module per subject."""

from __future__ import annotations
