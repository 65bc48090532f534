"""Statistics of a node's workers per period: how many keys were on the node, and how many elsewhere."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from pyps.node import Worker

OF_WORKERS = (
    "pulls",
    "pushes",
    "sets",
    "keys_pulled",
    "keys_pushed",
    "keys_set",
    "keys_local",
    "keys_remote",
    "latch_waits",
    "remote_operations",
    "remote_wait_ns",
)
OF_NODE = ("relocations_in", "relocations_out", "replicas_made", "requests_forwarded", "messages_received")
NOW = ("keys_held", "replicas_held")


class Periods:
    """Counts what workers of a node did, period by period; the first one begins now.

    Parameters
    ----------
    *workers : Worker
        Workers of one node, in this process. They must not be finalized while periods are counted.
    path : str or path, optional
        A file to which a line of JSON is appended for each period.

    Raises
    ------
    ValueError
        There are no workers, or they belong to several nodes.

    Examples
    --------
    >>> import pyps
    >>> with pyps.local(num_keys=10, value_length=1) as kv:
    ...     periods = pyps.Periods(kv)
    ...     kv.push([1, 2], np.ones(2, np.float32))
    ...     row = periods.end(epoch=1)
    ...     row["epoch"], row["keys_pushed"], row["local_share"]
    (1, 2, 1.0)
    """

    def __init__(self, *workers: Worker, path: str | os.PathLike[str] | None = None) -> None:
        if len({worker.node.handle for worker in workers}) != 1:
            raise ValueError("Periods needs workers of one node, at least one")
        self._workers = workers
        self._path = None if path is None else Path(path)
        self._time = time.monotonic()
        self._before = self._counted()

    def end(self, **labels: object) -> dict[str, Any]:
        """End a period and begin the next one.

        Parameters
        ----------
        **labels
            What else goes into the period's row, for example ``epoch=3``. JSON must be able to write it.

        Returns
        -------
        dict of str
            The `labels`; `node`, the node's rank; `time`, seconds since 1970 at the end of the period; `seconds`, its
            length.

            What workers counted in the period, as in `Worker.stats`: `pulls`, `pushes`, `sets`, `keys_pulled`,
            `keys_pushed`, `keys_set`, `keys_local`, `keys_remote`, `latch_waits`, `remote_operations`,
            `remote_wait_ns`. What the node counted, as in `Node.stats`: `relocations_in`, `relocations_out`,
            `replicas_made`, `requests_forwarded`, `messages_received`. At the end of the period: `keys_held`,
            `replicas_held`.

            `local_share`, the share of keys that were answered from this node's memory; None if there were no keys.

        Raises
        ------
        ClosedError
            A worker was finalized; the period goes on.
        OSError
            The file cannot be written; the period has ended.
        """
        now, counted = time.monotonic(), self._counted()
        keys = {name: counted[name] - self._before[name] for name in (*OF_WORKERS, *OF_NODE)}
        total = keys["keys_pulled"] + keys["keys_pushed"] + keys["keys_set"]
        node = self._workers[0].node
        row = {
            **labels,
            "node": node.rank,
            "time": time.time(),
            "seconds": now - self._time,
            **keys,
            **{name: counted[name] for name in NOW},
            "local_share": keys["keys_local"] / total if total else None,
        }
        self._time, self._before = now, counted
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return row

    def _counted(self) -> dict[str, int]:
        workers = [worker.stats() for worker in self._workers]
        node = self._workers[0].node.stats()
        return {name: sum(stats[name] for stats in workers) for name in OF_WORKERS} | {
            name: node[name] for name in (*OF_NODE, *NOW)
        }
