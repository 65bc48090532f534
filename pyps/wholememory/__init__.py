"""Whole memory: tensors in memory that all processes and GPUs of a host share.

The functions have the names and arguments of WholeMemory's PyTorch guide:

>>> from pyps import wholememory as wm
>>> wm.init_lib()
>>> wm.mp_init(0, 1)  # this rank, and how many there are
>>> a = wm.create_tensor([4, 3], [], torch.float32, True, [])
>>> a[2].fill_(1).sum()
tensor(3.)
>>> wm.finalize_lib()

Files in reading order: library, tensors (the public functions); meeting, channel, collective (how ranks work together);
layout, room, memory (the host's memory); cuda, device (GPUs' memory); rows, chunked, nn, files, formats (uses of the
tensors). Importing it starts no thread and opens no socket.
"""

from __future__ import annotations

from pyps.wholememory.chunked import ChunkedTensor
from pyps.wholememory.errors import DisagreementError, RankLost
from pyps.wholememory.files import load, store
from pyps.wholememory.library import barrier, finalize_lib, get_rank, get_size, init_lib, mp_init
from pyps.wholememory.nn import Embedding, EmbeddingBag
from pyps.wholememory.rows import gather, scatter, scatter_add
from pyps.wholememory.tensors import create_tensor, get_tensor_view, name_of, open_tensor

__all__ = [
    "ChunkedTensor",
    "DisagreementError",
    "Embedding",
    "EmbeddingBag",
    "RankLost",
    "barrier",
    "create_tensor",
    "finalize_lib",
    "gather",
    "get_rank",
    "get_size",
    "get_tensor_view",
    "init_lib",
    "load",
    "mp_init",
    "name_of",
    "open_tensor",
    "scatter",
    "scatter_add",
    "store",
]
