"""torch.distributed.rpc between two processes: rpc_sync of the same bytes, answered from one large tensor."""

from __future__ import annotations

import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch.distributed import rpc

from benchmarks.nodes.children import child, reply, serve

# On the loopback interface; that the other one leaves first is nothing to report.
ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", "TP_SOCKET_IFNAME": "lo", "TORCH_CPP_LOG_LEVEL": "ERROR"}

table = torch.zeros(0, 0)  # of the serving process


def fetch(keys: torch.Tensor) -> torch.Tensor:
    """Answer the values of keys; called in the serving process."""
    return table.index_select(0, keys)


def add(keys: torch.Tensor, values: torch.Tensor) -> None:
    """Add to the values of keys; called in the serving process."""
    table.index_add_(0, keys, values)


def join(rank: int, port: int) -> None:
    """Become one of the two processes."""
    rpc.init_rpc(  # type: ignore[no-untyped-call]
        f"rank{rank}",
        rank=rank,
        world_size=2,
        rpc_backend_options=rpc.TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{port}"),
    )


def main(rank: int, port: int, num_keys: int, length: int) -> None:
    """Be the process that keeps the values (1), or the one that asks (0), until the input ends."""
    global table  # noqa: PLW0603 - what is called by rpc finds it by name
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "You are using a Backend", UserWarning)  # torch's own use
    if rank == 1:
        table = torch.zeros(num_keys, length)
    join(rank, port)
    rng = torch.Generator().manual_seed(0)
    batches = [torch.randint(num_keys, (1000,), generator=rng) for _ in range(100)]
    values = torch.ones(1000, length)

    def pull(count: int) -> float:
        start = time.perf_counter()
        for i in range(count):
            rpc.rpc_sync("rank1", fetch, (batches[i % 100],))
        return time.perf_counter() - start

    def push(count: int) -> float:
        start = time.perf_counter()
        for i in range(count):
            rpc.rpc_sync("rank1", add, (batches[i % 100], values))
        return time.perf_counter() - start

    reply("joined")
    serve({"pull": pull, "push": push})
    rpc.shutdown(graceful=False)


@contextmanager
def rpc_loops(num_keys: int, length: int) -> Iterator[tuple[Callable[[int], float], Callable[[int], float]]]:
    """Start both processes; give loops of pulls and of pushes of 1000 keys, which run in the asking one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = [str(number) for number in (port, num_keys, length)]
    with ExitStack() as stack:
        asking, keeping = (
            stack.enter_context(child(__name__, str(rank), *arguments, **ENVIRONMENT)) for rank in (0, 1)
        )
        for process in (asking, keeping):
            process.line()
        yield lambda count: asking.ask("pull", count), lambda count: asking.ask("push", count)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
