"""What workers that draw samples do in tests: ``work(kv, number, ...)``. Every element of a value is its key."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pyps

TIMEOUT = 25.0


def probabilities(distribution: str, size: int) -> NDArray[np.float64]:
    """Return the probability of each key of a range, and so the weights of the weighted distribution."""
    places = np.arange(size, dtype=np.float64)
    if distribution == "uniform":
        return np.full(size, 1 / size)
    if distribution == "log-uniform":
        return np.log((places + 2) / (places + 1)) / np.log(size + 1)
    weights = (places % 4) * (places + 3)  # a quarter of the keys have none
    return np.asarray(weights / weights.sum())


def pulled(kv: pyps.Worker, sample: int, n: int) -> NDArray[np.int64]:
    """Pull the next keys of a sample and see that their values came with them."""
    keys, vals = np.empty(n, np.int64), np.empty((n, 3), np.int64)
    kv.pull_sample(sample, keys, vals)
    assert (vals == keys[:, None]).all()
    return keys


def count(kv: pyps.Worker, number: int, *, samples: int, n: int, distinct: bool) -> list[int]:
    """Count the keys of samples, each prepared a clock ahead and pulled in two parts."""
    counts = np.zeros(kv.num_keys, np.int64)
    ahead = [kv.prepare_sample(n, 0)]
    for clock in range(samples):
        ahead.append(kv.prepare_sample(n, clock + 1))
        sample = ahead.pop(0)
        keys = np.concatenate([pulled(kv, sample, n // 3), pulled(kv, sample, n - n // 3)])
        assert not distinct or len(np.unique(keys)) == n
        np.add.at(counts, keys, 1)
        kv.advance_clock()
    for sample in ahead:
        kv.finish_sample(sample)
    return [int(number) for number in counts]


def count_first(kv: pyps.Worker, number: int, *, samples: int, n: int) -> list[int]:
    """Count the first keys of samples."""
    counts = np.zeros(kv.num_keys, np.int64)
    for _ in range(samples):
        sample = kv.prepare_sample(n, 0)
        counts[pulled(kv, sample, 1)] += 1
        kv.finish_sample(sample)
    return [int(number) for number in counts]


def elsewhere(kv: pyps.Worker) -> int:
    """Tell how many of the keys that a worker pulled so far did not live on its node."""
    stats = kv.stats()
    return stats["keys_pulled"] - stats["keys_local"]


def sample_while_keys_move(kv: pyps.Worker, number: int, *, samples: int, n: int, movable: int) -> int:
    """Draw samples and localize some keys all the time; return how many came from elsewhere."""
    random = np.random.default_rng(number)
    for clock in range(samples):
        kv.localize(random.integers(0, movable, 3), asynchronous=True)
        pulled(kv, kv.prepare_sample(n, clock), n)
        kv.advance_clock()
    kv.waitall(TIMEOUT)
    return elsewhere(kv)


def get_local_in_time(kv: pyps.Worker, number: int, *, n: int) -> int:
    """Prepare a sample and pull it after a while, longer each time, until all of it is here; return what is not."""
    end, delay = time.monotonic() + TIMEOUT, 0.005
    while True:
        sample, before = kv.prepare_sample(n, kv.current_clock()), elsewhere(kv)
        time.sleep(delay)
        pulled(kv, sample, n)
        missed = elsewhere(kv) - before
        if missed == 0 or time.monotonic() > end:
            return missed
        delay *= 2


def go_on_with_pools(kv: pyps.Worker, number: int, *, n: int, samples: int) -> list[int]:
    """Wait until the pools are here, then pull samples at once; return what was elsewhere before and then."""
    missed = get_local_in_time(kv, number, n=n)
    before = elsewhere(kv)
    for _ in range(samples):
        pulled(kv, kv.prepare_sample(n, kv.current_clock()), n)
    return [missed, elsewhere(kv) - before]


def settings(distribution: str, size: int) -> dict[str, Any]:
    """Return the options of a server's `enable_sampling_support` beside its five arguments."""
    weighted = distribution == "weighted"
    return {"weights": probabilities(distribution, size) if weighted else None, "seed": 17, "pool_size": 50}
