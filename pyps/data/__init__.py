"""Batches for models whose embeddings are at a server.

>>> import pyps, torch
>>> loader = torch.utils.data.DataLoader(torch.randint(1000, (64, 3)), batch_size=16)
>>> with pyps.Server(1) as server, server.worker() as kv:
...     embedding = pyps.nn.Embedding(1000, 8, kv, optimizer="adagrad:lr=0.1")
...     for ids in pyps.data.prefetch(loader, embedding):
...         embedding(ids).sum().backward()
"""

from __future__ import annotations

from pyps.data.prefetching import Prefetch, prefetch

__all__ = ["Prefetch", "prefetch"]
