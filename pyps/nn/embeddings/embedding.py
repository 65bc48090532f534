"""`Embedding`: rows of ids, as `torch.nn.Embedding`, from a server."""

from __future__ import annotations

import torch

from pyps.nn.embeddings.compiling import not_compiled
from pyps.nn.embeddings.ids import as_ids, as_they_are, distinct
from pyps.nn.embeddings.pooling import Bags, pool
from pyps.nn.embeddings.single import SingleEmbedding


class Embedding(SingleEmbedding):
    """An embedding as `torch.nn.Embedding`, whose rows are at a server, which updates them.

    The forward pulls the rows of a batch. The backward pushes their gradients, and the optimizer of the server makes a
    step for each of these rows, with the sum of its gradients.

    Parameters
    ----------
    num : int or None
        Ids are 0 to ``num - 1``; None: any int64 but -1, and a row begins when its id is used first.
    dim : int
        Elements of a row.
    kv : pyps.Worker
        Of a server or node, which then gets a named table for the rows, or has it; or of a table that is there, which
        must fit. The module is for the thread of the worker.
    optimizer : pyps.optim.Optimizer or str
        Of the table that is made: pushes are gradients to it.
    name : str
        Of that table, by default "embedding". Modules of one name, in all processes, have the same rows.
    padding_idx : int, optional
        An id whose row is not trained. In a table that this module makes it begins as zeros; where ids are any numbers
        it is always zeros, is not at the server, and may be -1.
    max_norm : float, optional
        Rows with a greater norm are shortened to it when they are looked up. In training they are set at the server
        as well, which forgets what its optimizer kept for them.
    norm_type : float
        Of which order `max_norm` is.
    scale_grad_by_freq : bool
        Divide gradients by how often the id is in the batch.
    asynchronous : bool
        The backward returns before other nodes have answered; `wait` waits for them, as does the next lookup of the
        same ids.
    persistent : bool
        Whether `state_dict` has the rows.
    device : torch.device or str, optional
        Where rows are looked up to, and their gradients come from, for example "cuda"; by default the CPU. Ids may then
        be there, too.
    cache : DeviceCache, optional
        Which rows stay on the device for further lookups.
    dtype, initializer, capacity, memory_limit, eviction, max_age, admission, timeout
        Of the table that is made, see `Node.table`. By default rows are float32 and begin with normally distributed
        numbers, `pyps.initializers.Normal` with a seed that depends on the name.

    Attributes
    ----------
    kv : pyps.Worker
        Of the table that has the rows.
    table : pyps.Node
        That table.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong; or the table has other options, or no optimizer.

    Examples
    --------
    >>> import pyps, torch
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     embedding = pyps.nn.Embedding(1000, 64, kv, optimizer=pyps.optim.Adagrad(lr=0.1))
    ...     embedding(torch.tensor([[3, 7], [7, 9]])).shape
    torch.Size([2, 2, 64])
    """

    @not_compiled
    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 (torch's name)
        """Return the rows of ids.

        Parameters
        ----------
        input : int64 or int32 tensor
            Of any shape, on the CPU or the module's device.

        Returns
        -------
        tensor
            Of the shape of the ids and `dim`, in the table's dtype.

        Raises
        ------
        IndexError
            There is no such id.
        TypeError, ValueError
            The ids have a wrong dtype, or are on another device.
        ClosedError, NodeLost, WaitTimeoutError
            The rows cannot be reached.
        """
        ids = as_ids(input, device=self.device)
        if self._repeats(ids):
            rows = self._look_up(as_they_are(ids, self._ids))
            return rows.view(*ids.shape, self.embedding_dim)
        batch, positions = distinct(ids, self._ids, self.padding_idx)
        rows, positions = self._look_up(batch), positions.to(self.device)
        if batch.padding is None and not self.scale_grad_by_freq:
            return pool([Bags(positions, "none")], [rows])[0]
        return torch.nn.functional.embedding(
            positions, rows, batch.padding, scale_grad_by_freq=self.scale_grad_by_freq
        )

    def _repeats(self, ids: torch.Tensor) -> bool:
        """Whether to pull and push repeated ids each time: where no message has them, that is faster than to find them.

        The server sums their gradients as torch would.
        """
        if (
            self.table.places > 1
            or self.device is not None
            or self.max_norm is not None
            or self.scale_grad_by_freq
        ):
            return False
        return self.padding_idx is None or not bool((ids == self.padding_idx).any())
