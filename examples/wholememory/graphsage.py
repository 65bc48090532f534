"""GraphSAGE on a large graph in shared tensors, trained by several processes on one set of weights.

``python -m examples.wholememory.graphsage`` makes a graph of a million nodes and ten million edges once; one, two and
four processes sample from it and train, each time from the beginning. ``--out`` is a picture of how they learn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from torch.multiprocessing.spawn import spawn

import pyps
from examples.wholememory.powerlaw import CLASSES, Graph, generate, sample
from pyps import wholememory as wm

FANOUTS = (10, 5)
BATCH = 256
HIDDEN = 64
RATE = 3e-3
HELD_OUT = 10  # one node in so many is for the test
MARKS = 20  # at which each process tells how far it is


class Sage(nn.Module):
    """Two layers: each adds a map of a node and one of its neighbours' mean."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.own = nn.ModuleList([nn.Linear(length, HIDDEN), nn.Linear(HIDDEN, CLASSES)])
        self.others = nn.ModuleList([nn.Linear(length, HIDDEN), nn.Linear(HIDDEN, CLASSES)])

    def layer(self, number: int, own: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the next layer of nodes (..., length) from neighbours (..., n, length)."""
        result: torch.Tensor = self.own[number](own) + self.others[number](others.mean(-2))
        return result

    def forward(self, graph: Graph, nodes: torch.Tensor) -> torch.Tensor:
        """Return the classes' scores of nodes (n,), from sampled neighbours of two steps."""
        first = sample(graph, nodes, FANOUTS[0])
        second = sample(graph, first.flatten(), FANOUTS[1]).view(*first.shape, FANOUTS[1])
        x0, x1, x2 = (wm.gather(graph.features, each) for each in (nodes, first, second))
        h0, h1 = self.layer(0, x0, x1).relu(), self.layer(0, x1, x2).relu()
        return self.layer(1, h0, h1)


def trainer(
    rank: int, size: int, graph: Graph, weights: str, steps: int, marks: torch.Tensor, group: str
) -> None:
    """Train in a process of its own; the tensors came by their names.

    Parameters
    ----------
    marks : torch.Tensor, shape (size, MARKS, 3)
        Gets seconds, samples and the mean loss since the last mark.
    """
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    wm.init_lib()
    wm.mp_init(rank, size, group=group)
    model = Sage(graph.features.shape[1])
    pyps.share(model, weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    wm.barrier()
    start, total = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        nodes = torch.randint(len(graph.labels), (BATCH,))
        nodes -= (nodes % HELD_OUT == 0).long()  # the one before is not for the test
        nodes.clamp_(min=1)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(graph, nodes), wm.gather(graph.labels, nodes))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.item()
        each = max(1, steps // MARKS)
        if step % each == 0 and step // each <= MARKS:
            mark = torch.tensor([time.monotonic() - start, step * BATCH, total / each])
            marks[rank, step // each - 1], total = mark, 0.0
    wm.barrier()
    wm.finalize_lib()


def run(graph: Graph, processes: int, steps: int) -> tuple[torch.Tensor, float]:
    """Train, `steps` of all processes together; return their marks and the accuracy on the test's nodes."""
    torch.manual_seed(0)
    model = Sage(graph.features.shape[1])
    marks = wm.create_tensor([processes, MARKS, 3], [], torch.float32, True, [])
    arguments = (
        processes,
        graph,
        pyps.share(model),
        steps // processes,
        marks,
        f"graphsage {wm.name_of(marks)}",
    )
    spawn(trainer, args=arguments, nprocs=processes)  # type: ignore[no-untyped-call]
    nodes = torch.arange(0, len(graph.labels), HELD_OUT)[:4096]
    with torch.no_grad():
        right = model(graph, nodes).argmax(1) == wm.gather(graph.labels, nodes)
    return marks.clone(), right.double().mean().item()


def draw(found: dict[int, torch.Tensor], path: Path) -> None:
    """Draw the loss over time, and samples per second over processes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for processes, marks in found.items():
        left.plot(marks[..., 0].mean(0), marks[..., 2].mean(0), label=f"{processes}")
    left.set(xlabel="seconds", ylabel="loss", title="learning")
    left.legend(title="processes")
    right.plot(list(found), [rate(marks) for marks in found.values()], "o-")
    right.set(xlabel="processes", ylabel="samples/s", title="speed", ylim=0, xticks=list(found))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def rate(marks: torch.Tensor) -> float:
    """Return samples per second of all processes together."""
    return (marks[:, -1, 1] / marks[:, -1, 0]).sum().item()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train with each number of processes and say what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--steps", type=int, default=2000, help="of all processes together")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--out", type=Path, default=Path("out/graphsage.png"))
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    wm.init_lib()
    wm.mp_init(0, 1)
    start = time.monotonic()
    graph = generate(options.nodes, options.edges)
    print(
        f"{options.nodes:,} nodes and {options.edges:,} edges in {time.monotonic() - start:.1f} s", flush=True
    )
    found = {}
    for processes in options.processes:
        found[processes], accuracy = run(graph, processes, options.steps)
        losses = found[processes][..., 2].mean(0)
        print(
            f"{processes} processes: {rate(found[processes]):,.0f} samples/s, loss {losses[0]:.3f} to "
            f"{losses[-1]:.3f}, accuracy {accuracy:.3f} on nodes that nobody trained on",
            flush=True,
        )
    draw(found, options.out)
    print(f"picture: {options.out}")
    wm.finalize_lib()


if __name__ == "__main__":
    main()
