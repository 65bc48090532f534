"""Modules of PyTorch whose parameters are at a parameter server.

>>> import pyps, torch
>>> with pyps.Server(1) as server, server.worker() as kv:
...     embedding = pyps.nn.Embedding(1000, 64, kv, optimizer=pyps.optim.Adagrad(lr=0.1))
...     with pyps.nn.Distributed(torch.nn.Linear(64, 2), kv, optimizer=pyps.optim.SGD(lr=0.1)) as model:
...         model(embedding(torch.tensor([3, 7, 9]))).sum().backward()  # the server has made a step
"""

from __future__ import annotations

from pyps.nn.dense.distributed import Distributed
from pyps.nn.dense.parallel import join, parallel_apply, split
from pyps.nn.embeddings.collection import EmbeddingCollection, EmbeddingConfig
from pyps.nn.embeddings.device import DeviceCache
from pyps.nn.embeddings.embedding import Embedding
from pyps.nn.embeddings.embedding_bag import EmbeddingBag
from pyps.nn.embeddings.features import Jagged

__all__ = [
    "DeviceCache",
    "Distributed",
    "Embedding",
    "EmbeddingBag",
    "EmbeddingCollection",
    "EmbeddingConfig",
    "Jagged",
    "join",
    "parallel_apply",
    "split",
]
