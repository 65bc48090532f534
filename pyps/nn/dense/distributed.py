"""`Distributed`: a dense model whose parameters are at the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn, Self

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from pyps.nn.dense import states
from pyps.nn.dense.flat import FlatParameters
from pyps.nn.dense.meeting import meet
from pyps.nn.dense.modes import Asynchronous, Bounded, Mode, Training
from pyps.nn.dense.pulling import Pulls
from pyps.nn.dense.synchronous import Synchronous
from pyps.node import Worker
from pyps.optim import Optimizer

MODES: dict[str, Callable[[Training], Mode]] = {
    "async": Asynchronous,
    "bounded": Bounded,
    "sync": Synchronous,
}


class Distributed(nn.Module):
    """A model that several workers train together, with its parameters in a named table of the server.

    A backward pushes each gradient as soon as it is there, and leaves none in ``grad``; the server's optimizer applies
    it. The first forward after a backward pulls the new values. So a program calls neither ``optimizer.step`` nor
    ``zero_grad``. Buffers, like the running means of a BatchNorm, stay those of each worker.

    The first worker of a model sets the values that training begins with, and all others take them. Parameters that do
    not require grad when this is made are never pushed.

    Use it as a context manager, or call `close`. Each process, and each thread that trains, makes its own.

    Parameters
    ----------
    module : torch.nn.Module
        Its parameters are on one device and have one dtype. They become parts of one vector, and stay the same objects.
    kv : pyps.Worker
        Of the server, a node of a cluster, or a node that this process has attached to.
    optimizer : pyps.optim.Optimizer or str
        Of the table; the same in all workers.
    mode : str
        "async": each gradient is applied when it comes, and nobody waits. "bounded": the same, but before a forward a
        worker waits until all others have made at most `staleness` steps less than it has. "sync": the mean of all
        workers' gradients is applied, so that the steps are those of one process with all of their batches.
    staleness : int, optional
        For "bounded", at least 0.
    name : str
        Of the table; others of the model begin with it and a dot.
    rank, workers : int, optional
        For "bounded" and "sync": this worker's number, from 0, and how many there are. By default those of the job,
        ``kv.node.job``; threads have to give them.
    timeout : float
        Seconds that each wait for other workers or nodes takes at most.

    Attributes
    ----------
    module : torch.nn.Module
    table : pyps.Table
        ``table.optimizer`` has the settings, for schedulers.

    Raises
    ------
    ValueError
        The table holds another architecture, has another optimizer or dtype; or an argument does not fit.
    WaitTimeoutError
        Other workers did not come in time.

    Examples
    --------
    >>> import pyps, torch
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     with Distributed(torch.nn.Linear(3, 2), kv, optimizer="sgd:lr=0.1") as model:
    ...         for _ in range(3):
    ...             model(torch.ones(4, 3)).square().mean().backward()
    """

    def __init__(
        self,
        module: nn.Module,
        kv: Worker,
        *,
        optimizer: Optimizer | str,
        mode: str = "async",
        staleness: int | None = None,
        name: str = "model",
        rank: int | None = None,
        workers: int | None = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__()
        if mode not in MODES:
            raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}")
        if (staleness is not None) != (mode == "bounded"):
            raise ValueError(
                f"mode is {mode!r} and staleness {staleness}: 'bounded', and nothing else, needs how many steps a "
                "worker may be ahead"
            )
        if staleness is not None and staleness < 0:
            raise ValueError(f"staleness is {staleness}; it must be at least 0 steps")
        if not optimizer:
            raise ValueError(
                "there is no optimizer, and pushes would add the gradients: give one, like pyps.optim.SGD(lr=0.1)"
            )
        job = kv.node.job
        self._flat = FlatParameters(module)
        self.table, table = meet(kv, name, optimizer, self._flat, timeout)
        self.module, self._values, self._timeout = module, table, timeout
        self._mode = MODES[mode](
            Training(
                kv=kv,
                table=table,
                name=name,
                flat=self._flat,
                rank=job.rank if rank is None else rank,
                workers=job.world_size if workers is None else workers,
                staleness=staleness or 0,
                timeout=timeout,
            )
        )
        self._flat.lay_out()
        self._pulls = Pulls(table, self._flat, module, timeout, overlap=mode == "async")
        self._hooks: list[RemovableHandle] = [
            tensor.register_post_accumulate_grad_hook(self._taking(number))  # type: ignore[no-untyped-call]
            for number, tensor in enumerate(self._flat.tensors)
            if tensor.requires_grad
        ]
        states.add_hooks(self, self._flat, self._pull_between_steps, self._give)
        self._is_new = True  # values have not been pulled since the last step
        self._accumulates = self._ends = self._is_closed = False

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Call the module, with the values that the server has after the last step of this worker."""
        self._ends = False  # if the last backward was broken off
        if not self._is_new or self._is_closed:
            return self.module(*inputs, **options)
        self._mode.wait()
        self._pulls.start()
        self._is_new = False
        output = self.module(*inputs, **options)
        self._pulls.wait()
        return output

    def pull(self) -> None:
        """Pull the newest values now. A backward of a forward before that is an error then."""
        self._pulls.start()
        self._pulls.wait()

    def _pull_between_steps(self) -> None:
        """Pull, unless a backward may need the values that are there."""
        if self._is_new and not self._is_closed:
            self.pull()

    def _give(self) -> None:
        """Give the server the values that were loaded."""
        if not self._is_closed:
            self._values.set(self._flat.all_keys, self._flat.vector, timeout=self._timeout)
            self._flat.note_written()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let backwards add up gradients in ``grad``, as without this module; the next one outside pushes the sums."""
        before, self._accumulates = self._accumulates, True
        try:
            yield
        finally:
            self._accumulates = before

    def close(self, *, failed: bool = False) -> None:
        """Leave the training, with the newest values in the module; wait for what is on its way. May be called again.

        Parameters
        ----------
        failed : bool
            Pull and wait for nothing. Where others wait for this worker, they raise an error.
        """
        if self._is_closed:
            return
        self._is_closed = True
        for hook in self._hooks:
            hook.remove()
        try:
            if not failed:
                self._mode.settle()
                self.pull()
        finally:
            self._pulls.close()
            self._mode.close(failed=failed)

    def _taking(self, number: int) -> Callable[[torch.Tensor], None]:
        def take(parameter: torch.Tensor) -> None:
            if self._accumulates:
                return
            gradient, parameter.grad = parameter.grad, None
            name = self._flat.names[number]
            if gradient is None:
                raise RuntimeError(
                    f"parameter {name!r} is that of another Distributed, too: close that one first"
                )
            if gradient.requires_grad:
                raise RuntimeError(
                    f"the gradient of parameter {name!r} was computed with create_graph=True, and the graph would be "
                    "lost at the server: use torch.autograd.grad(..., create_graph=True) for what is differentiated "
                    "again"
                )
            if gradient.layout is not torch.strided:
                raise TypeError(
                    f"the gradient of parameter {name!r} is sparse, and all of its values are pushed: make its module "
                    "with sparse=False"
                )
            self._mode.push(number, gradient)
            if not self._ends:
                self._ends = True
                torch.autograd.Variable._execution_engine.queue_callback(self._end_step)

        return take

    def _end_step(self) -> None:
        self._ends = False
        self._is_new = True
        self._mode.end_step()

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> NoReturn:
        raise TypeError(
            "the parameters lie where pulls write to: move or convert the model before it is given to Distributed"
        )

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError(
            "a Distributed has a place among workers: copy its module, or make another Distributed"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Distributed belongs to its process: send its module, or state_dict(), and let each process make its own"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(failed=kind is not None)
