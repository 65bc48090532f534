"""What a node's workers found here and elsewhere in each of several periods: how well the keys follow their users."""

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
        Of one node, in this process. They stay open as long as periods end.
    path : str or path, optional
        A file that gets a line of JSON for each period, behind those that are there.

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
            raise ValueError("Periods wants the workers of one node, at least one")
        self._workers = workers
        self._path = None if path is None else Path(path)
        self._time = time.monotonic()
        self._before = self._counted()

    def end(self, **labels: object) -> dict[str, Any]:
        """End a period and begin the next one.

        Parameters
        ----------
        **labels
            What else the period's row says, like ``epoch=3``; what JSON can write.

        Returns
        -------
        dict of str
            `labels`; `node`, its rank; `time`, seconds since 1970, and `seconds`, how long it was. What `stats` of
            workers and node count, in this period: `pulls`, `pushes`, `sets`, `keys_pulled`, `keys_pushed`,
            `keys_set`, `keys_local`, `keys_remote`, `latch_waits`, `remote_operations`, `remote_wait_ns`;
            `relocations_in`, `relocations_out`, `replicas_made`, `requests_forwarded`, `messages_received`. At its
            end: `keys_held`, `replicas_held`. And `local_share`, which part of the keys was answered from this node's
            memory; None if there were no keys.

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
