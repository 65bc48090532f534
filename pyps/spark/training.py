"""`train`: run a function in the tasks of a barrier stage, each of which is a node of a parameter server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import zmq
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame

from pyps.named_settings import initializer_text, optimizer_text
from pyps.spark.node import SCHEMA, Batches, Task
from pyps.spark.trained import Trained, read

OWN = ("num_nodes", "rank", "curve", "places", "cluster")  # options of a server that the stage decides


def train(
    df: DataFrame,
    fn: Callable[[Any, Batches], Any],
    *,
    nodes: int | None = None,
    num_keys: int | None = None,
    value_length: Any = 1,
    checkpoint: str | None = None,
    interface: str | None = None,
    timeout: float = 300.0,
    **options: Any,
) -> Trained:
    """Train on the rows of a DataFrame, with a parameter server whose nodes are Spark's tasks.

    Each task of a barrier stage is a node and gets its share of the rows. When all have ended, what the server holds
    comes back. Messages between nodes are encrypted, with keys that are drawn for this call.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Its rows are spread evenly over the nodes.
    fn : callable
        ``fn(node, batches)``, in each task: `node` is a `pyps.Server`, `batches` yields the task's rows once, as dicts
        of a numpy array for each column. It is sent to the tasks as Spark sends functions.
    nodes : int, optional
        How many tasks, of which all run at the same time; by default as many as there are slots. Executors that
        dynamic allocation has not started yet have none.
    num_keys, value_length, **options
        As in `Server`. `num_workers` is 1 by default: barriers of workers wait until each node has had one.
    checkpoint : str, optional
        A directory, or a URL of a store that fsspec reaches, that all tasks see: the server is saved there by
        `pyps.checkpoint`, and what it holds does not come back. For models that the driver has no room for.
    interface : str, optional
        Where nodes listen: the name of an interface that all hosts have. By default the address that Spark has for the
        task's host.
    timeout : float
        Seconds that each wait for other nodes takes at most.

    Returns
    -------
    Trained
        With what `fn` returned in each task.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong.
    RuntimeError
        A task failed, with its traceback. Spark has ended the others then.
    """
    if not callable(fn):
        raise TypeError(f"fn is {type(fn).__name__}; it must be a function of a node and batches")
    if given := [name for name in OWN if name in options]:
        raise TypeError(f"{', '.join(given)}: the stage decides that; nodes= says how many there are")
    slots = _slots(df)
    count = slots if nodes is None else nodes
    if not 1 <= count <= slots:
        raise ValueError(
            f"nodes is {count}; it must be in [1, {slots}], as all run at the same time and Spark has so many slots"
        )
    public, secret = zmq.curve_keypair()
    task = Task(
        fn=fn,
        nodes=count,
        options={
            "num_workers": 1,
            **options,
            "num_keys": num_keys,
            "value_length": value_length,
            "optimizer": optimizer_text(options.get("optimizer")),
            "initializer": initializer_text(options.get("initializer")),
        },
        curve=(public.decode(), secret.decode()),
        checkpoint=checkpoint,
        interface=interface,
        timeout=timeout,
    )
    rows = df.repartition(count).mapInArrow(task.run, SCHEMA, barrier=True)
    try:
        return read(rows.collect())
    except Py4JJavaError as error:  # pyspark gives errors of other stages a kind of its own
        raise RuntimeError(f"a task of the stage failed:\n{_told(error)}") from error


def _slots(df: DataFrame) -> int:
    """Return how many tasks can run at the same time. For a stage that needs more Spark would wait for ten minutes."""
    context = df.sparkSession.sparkContext._jsc.sc()
    profile = context.resourceProfileManager().defaultResourceProfile()
    return int(context.maxNumConcurrentTasks(profile))


def _told(error: Py4JJavaError) -> str:
    """Return what a task's Python said, without Java's part; all of it if Python said nothing."""
    text = str(error.java_exception)
    begin = text.find("Traceback (most recent call last)")
    said, _, _ = text[begin:].partition("SQLSTATE")
    return said.partition("\n\tat ")[0].strip() if begin >= 0 else text
