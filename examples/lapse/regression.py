"""A program of Lapse on pyps: linear regression by nodes with worker threads, in numpy and PyTorch.

    python examples/lapse/regression.py --nodes 4 --threads 2

What differs from the same program of Lapse is the import. The weights lie in blocks of four, one block per key; the
last key is longer and counts what was done. Each worker moves the blocks it trains next to its node.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import traceback
from functools import partial

import numpy as np
import torch
from torch.multiprocessing import Process

from pyps import lapse

NUM_BLOCKS, BLOCK, AT_ONCE = 40, 4, 3
COUNTS, NUM_COUNTS = NUM_BLOCKS, 10  # the key with the counts, and its length
STEPS, RATE = 300, 0.05
TRUTH = np.random.default_rng(0).normal(size=(NUM_BLOCKS, BLOCK)).astype(np.float32)


def work(worker_id: int, num_workers: int, kv: lapse.Worker) -> None:
    """Train with either library, look at the result, and leave."""
    try:
        for library, train in (("numpy", train_numpy), ("PyTorch", train_torch)):
            if worker_id == 0:
                kv.set(np.arange(NUM_BLOCKS), np.zeros((NUM_BLOCKS, BLOCK), np.float32))
                kv.set([COUNTS], np.zeros(NUM_COUNTS, np.float32))
            kv.barrier()
            train(worker_id, kv)
            kv.barrier()
            if worker_id == 0:
                look(library, num_workers, kv)
            kv.barrier()
        kv.finalize()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def train_numpy(worker_id: int, kv: lapse.Worker) -> None:
    """Minimise the squared error on random examples, with numpy."""
    random = np.random.default_rng(worker_id)
    weights = np.empty((AT_ONCE, BLOCK), np.float32)
    done = np.ones(NUM_COUNTS, np.float32)
    for _ in range(STEPS):
        blocks = random.choice(NUM_BLOCKS, AT_ONCE, replace=False)
        inputs = random.normal(size=weights.shape).astype(np.float32)
        kv.localize(blocks)
        kv.pull(blocks, weights)
        error = (inputs * (weights - TRUTH[blocks])).sum()
        kv.push(blocks, -RATE * error * inputs, True)
        kv.push(np.array([COUNTS]), done, True)
    kv.waitall()


def train_torch(worker_id: int, kv: lapse.Worker) -> None:
    """Minimise the squared error on random examples, with PyTorch."""
    random = torch.Generator().manual_seed(worker_id)
    truth = torch.from_numpy(TRUTH)
    weights = torch.empty(AT_ONCE, BLOCK)
    last = -1
    for _ in range(STEPS):
        blocks = torch.randperm(NUM_BLOCKS, generator=random)[:AT_ONCE]
        inputs = torch.randn(weights.shape, generator=random)
        kv.localize(blocks)
        kv.wait(kv.pull(blocks, weights, **{"async": True}))
        prediction = weights.clone().requires_grad_()
        loss = 0.5 * (inputs * (prediction - truth[blocks])).sum() ** 2
        (gradient,) = torch.autograd.grad(loss, prediction)
        kv.push(blocks, -RATE * gradient, True)
        last = kv.push(torch.tensor([COUNTS]), torch.ones(NUM_COUNTS), True)
    kv.wait(last)
    kv.waitall()


def look(library: str, num_workers: int, kv: lapse.Worker) -> None:
    """Compare weights and counts with what they should be."""
    weights = np.empty((NUM_BLOCKS, BLOCK), np.float32)
    counts = np.empty(kv.get_key_size(COUNTS), np.float32)
    kv.pull(np.arange(NUM_BLOCKS), weights)
    kv.pull([COUNTS], counts)
    error = np.abs(weights - TRUTH).mean()
    print(f"{library}: {int(counts[0])} steps, mean error of a weight {error:.4f}")
    if (counts != num_workers * STEPS).any() or error > 0.3:
        raise SystemExit(f"{num_workers * STEPS} steps and an error below 0.3 were expected")


def run_scheduler(options: argparse.Namespace) -> None:
    """Be the process that the nodes find each other by."""
    set_environment("scheduler", options)
    lapse.scheduler(NUM_BLOCKS + 1, options.threads)


def run_node(options: argparse.Namespace) -> None:
    """Be a node with its workers."""
    set_environment("server", options)
    lapse.setup(NUM_BLOCKS + 1, options.threads)
    lengths = torch.ones(NUM_BLOCKS + 1) * BLOCK
    lengths[COUNTS] = NUM_COUNTS
    server = lapse.Server(lengths)
    threads = []
    for number in range(options.threads):
        worker_id = server.my_rank() * options.threads + number
        kv = lapse.Worker(0, number + 1, server)
        run = partial(work, worker_id, options.nodes * options.threads, kv)
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
    parser = argparse.ArgumentParser(description="Linear regression with pyps.lapse.")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2, help="worker threads of each node")
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
