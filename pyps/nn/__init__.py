"""Embeddings whose rows are at a parameter server, as modules of PyTorch.

>>> import pyps, torch
>>> with pyps.Server(1) as server, server.worker() as kv:
...     embedding = pyps.nn.Embedding(1000, 64, kv, optimizer=pyps.optim.Adagrad(lr=0.1))
...     embedding(torch.tensor([[3, 7], [7, 9]])).sum().backward()  # the server has made a step
"""

from __future__ import annotations

from pyps.nn.collection import EmbeddingCollection, EmbeddingConfig
from pyps.nn.embedding import Embedding
from pyps.nn.embedding_bag import EmbeddingBag
from pyps.nn.features import Jagged

__all__ = ["Embedding", "EmbeddingBag", "EmbeddingCollection", "EmbeddingConfig", "Jagged"]
