"""A program of AdaPM on pyps: embeddings with negative sampling, by nodes with worker threads, in numpy and PyTorch.

    python examples/adapm/ring.py --nodes 4 --threads 2

What differs from the same program of AdaPM is the import. Items stand in a ring; their vectors shall tell neighbours
from other items. Each worker says ahead of time which items it will use; the last key is longer and counts what was
done.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch.multiprocessing import Process

from pyps import adapm

NUM_ITEMS, LENGTH, NEGATIVES = 60, 8, 4
COUNTS, NUM_COUNTS = NUM_ITEMS, 10  # the key with the counts, and its length
STEPS, RATE, AHEAD = 300, 0.3, 5


def work(worker_id: int, num_workers: int, kv: adapm.Worker) -> None:
    """Train with either library, look at the result, and leave."""
    try:
        for library, train in (("numpy", train_numpy), ("PyTorch", train_torch)):
            kv.begin_setup()
            if worker_id == 0:
                random = np.random.default_rng(0)
                vectors = 0.1 * random.normal(size=(NUM_ITEMS, LENGTH))
                kv.set(np.arange(NUM_ITEMS), vectors.astype(np.float32))
                kv.set([COUNTS], np.zeros(NUM_COUNTS, np.float32))
            kv.end_setup()
            kv.barrier()
            before = accuracy(kv)
            kv.barrier()
            train(worker_id, kv)
            kv.waitall()
            kv.wait_sync()
            kv.barrier()
            if worker_id == 0:
                look(library, num_workers, before, kv)
            kv.barrier()
        kv.finalize()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def batches(worker_id: int, kv: adapm.Worker) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Yield pairs of neighbours with the number of a sample, prepared some steps before they are used."""
    random = np.random.default_rng(worker_id)
    waiting: list[tuple[NDArray[np.int64], int]] = []
    for step in range(STEPS + AHEAD):
        if step < STEPS:
            pair = random.integers(NUM_ITEMS) + np.array([0, 1])
            clock = kv.current_clock() + AHEAD
            kv.intent(pair % NUM_ITEMS, clock)
            waiting.append((pair % NUM_ITEMS, kv.prepare_sample(NEGATIVES, clock)))
        if step >= AHEAD:
            yield waiting.pop(0)
        kv.advance_clock()


def train_numpy(worker_id: int, kv: adapm.Worker) -> None:
    """Pull neighbours together and others apart, with numpy."""
    vectors = np.empty((2, LENGTH), np.float32)
    others, other_vectors = np.empty(NEGATIVES, np.int64), np.empty((NEGATIVES, LENGTH), np.float32)
    for pair, sample in batches(worker_id, kv):
        kv.pull(pair, vectors)
        kv.pull_sample(sample, others, other_vectors)
        first, second = vectors
        near = -1 / (1 + np.exp(first @ second))
        far = (1 / (1 + np.exp(-other_vectors @ first)))[:, None]
        kv.push(pair, -RATE * np.stack([near * second + (far * other_vectors).sum(0), near * first]), True)
        kv.push(others, -RATE * far * first, True)
        kv.push([COUNTS], np.ones(NUM_COUNTS, np.float32), True)


def train_torch(worker_id: int, kv: adapm.Worker) -> None:
    """Pull neighbours together and others apart, with PyTorch."""
    vectors, others = torch.empty(2, LENGTH), torch.empty(NEGATIVES, dtype=torch.int64)
    other_vectors = torch.empty(NEGATIVES, LENGTH)
    for pair, sample in batches(worker_id, kv):
        keys = torch.from_numpy(pair)
        pulled = kv.pull(keys, vectors, True)
        kv.wait(kv.pull_sample(sample, others, other_vectors, True))
        kv.wait(pulled)
        near, far = vectors.clone().requires_grad_(), other_vectors.clone().requires_grad_()
        loss = -torch.nn.functional.logsigmoid(near[0] @ near[1])
        loss = loss - torch.nn.functional.logsigmoid(-(far @ near[0])).sum()
        of_near, of_far = torch.autograd.grad(loss, (near, far))
        kv.push(keys, -RATE * of_near, True)
        kv.push(others, -RATE * of_far, **{"async": True})
        kv.push(torch.tensor([COUNTS]), torch.ones(NUM_COUNTS), True)


def accuracy(kv: adapm.Worker) -> float:
    """Return how often an item's product with the next one is larger than that with another one."""
    vectors = np.empty((NUM_ITEMS, LENGTH), np.float32)
    kv.pull(np.arange(NUM_ITEMS), vectors)
    products = vectors @ vectors.T
    items = np.arange(NUM_ITEMS)
    following = products[items, (items + 1) % NUM_ITEMS]
    distance = (items[None, :] - items[:, None]) % NUM_ITEMS
    others = (distance > 1) & (distance < NUM_ITEMS - 1)
    return float((following[:, None] > products)[others].mean())


def look(library: str, num_workers: int, before: float, kv: adapm.Worker) -> None:
    """Compare the accuracy with the former, and the counts with what they should be."""
    counts = np.empty(kv.get_key_size(COUNTS), np.float32)
    kv.pull([COUNTS], counts)
    after = accuracy(kv)
    print(f"{library}: {int(counts[0])} steps, accuracy {before:.2f}, then {after:.2f}")
    if (counts != num_workers * STEPS).any() or after < 0.65:
        raise SystemExit(f"{num_workers * STEPS} steps and an accuracy above 0.65 were expected")


def run_scheduler(options: argparse.Namespace) -> None:
    """Be the process that the nodes find each other by."""
    set_environment("scheduler", options)
    adapm.scheduler(NUM_ITEMS + 1, options.threads)


def run_node(options: argparse.Namespace) -> None:
    """Be a node with its workers."""
    set_environment("server", options)
    adapm.setup(NUM_ITEMS + 1, options.threads)
    lengths = torch.ones(NUM_ITEMS + 1) * LENGTH
    lengths[COUNTS] = NUM_COUNTS
    server = adapm.Server(lengths)
    server.enable_sampling_support(
        scheme=options.scheme, with_replacement=True, distribution="uniform", min=0, max=NUM_ITEMS
    )
    threads = []
    for number in range(options.threads):
        worker_id = server.my_rank() * options.threads + number
        run = partial(work, worker_id, options.nodes * options.threads, adapm.Worker(number, server))
        threads.append(threading.Thread(target=run))
        threads[-1].start()
    for thread in threads:
        thread.join()
    server.shutdown()


def set_environment(role: str, options: argparse.Namespace) -> None:
    """Say who this process is and where the scheduler is."""
    os.environ["DMLC_NUM_SERVER"] = str(options.nodes)
    os.environ["DMLC_ROLE"] = role
    os.environ["DMLC_PS_ROOT_URI"] = options.host
    os.environ["DMLC_PS_ROOT_PORT"] = str(options.port)


def main() -> None:
    """Start the scheduler and the nodes."""
    parser = argparse.ArgumentParser(description="Embeddings with pyps.adapm.")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2, help="worker threads of each node")
    parser.add_argument("--scheme", default="local", help="of sampling: naive, preloc, pool or local")
    parser.add_argument("--host", default="127.0.0.1", help="address of the scheduler")
    parser.add_argument("--port", type=int, default=9091, help="of the scheduler")
    options = parser.parse_args()
    processes = [Process(target=run_scheduler, args=(options,))]
    processes += [Process(target=run_node, args=(options,)) for _ in range(options.nodes)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(any(process.exitcode for process in processes))


if __name__ == "__main__":
    main()
