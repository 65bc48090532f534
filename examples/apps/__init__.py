"""Programs that learn with parameters on several nodes: matrix factorization, graph embeddings, word vectors.

Read `management.py` first, it is the whole difference between the three ways of using the server; then `training.py`,
the loop that all three programs share; then a program.
"""

from __future__ import annotations
