"""`moontide launch`: all processes of a cluster on this machine, with their output labelled, and gone at the end.

Files in reading order: plan (who runs with which variables), guardian (what outlives the launcher), run.
"""

from __future__ import annotations
