"""Programs that learn with parameters on several nodes: matrices, graphs, word vectors, clicks.

Read `management.py` first, it is the whole difference between the three ways of using the server; then `training.py`,
the loop that all programs share; then a program.
"""

from __future__ import annotations
