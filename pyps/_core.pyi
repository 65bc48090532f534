from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from typing_extensions import disjoint_base

from pyps.dtypes import Dtype
from pyps.timestamps import Timestamp

def load_zmq(path: str) -> None: ...

@disjoint_base
class Node:
    @property
    def dtype(self) -> Dtype: ...
    @property
    def num_keys(self) -> int | None: ...
    @property
    def value_length(self) -> int | None: ...
    @property
    def total_values(self) -> int: ...
    @property
    def max_workers(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def handle(self) -> int: ...
    def __init__(
        self,
        address: str | None = None,
        *,
        num_keys: int = 0,
        capacity: int = 0,
        value_lengths: Any = None,
        dtype: Dtype | None = None,
        max_workers: int = 0,
        num_workers: int = 0,
        memory_limit: int = 0,
        latch_timeout: float | None = None,
        timeout: float | None = None,
        num_nodes: int = 1,
        rank: int = 0,
        techniques: int = 0,
        cluster: int = 0,
        heartbeat: float | None = None,
        lost_after: float | None = None,
        on_loss: int = 0,
        in_flight: int = 0,
        server_threads: int = 1,
    ) -> None: ...
    def total_length(self, keys: Any) -> int: ...
    def listen(self) -> str: ...
    def secure(self, public: str, secret: str) -> None: ...
    def bind(self, endpoint: str) -> str: ...
    def connect(self, endpoints: Sequence[str]) -> None: ...
    def enable_sampling(
        self,
        scheme: str,
        distribution: str,
        first: int,
        stop: int,
        *,
        with_replacement: bool,
        weights: Any = None,
        seed: int | None = None,
        pool_size: int = 0,
        pool_uses: int = 0,
    ) -> None: ...
    def barrier(self, timeout: float | None = None) -> None: ...
    def shutdown(self, timeout: float | None = None) -> None: ...
    def stats(self) -> dict[str, int]: ...
    def begin_trace(self, keys: Any) -> None: ...
    def take_trace(self) -> tuple[list[tuple[int, int, int, int]], int]: ...
    def first_refusal(self) -> str: ...

@disjoint_base
class Borrowed: ...

@disjoint_base
class Operations:
    def __init__(self, store: Node) -> None: ...
    tells_timestamps: bool  # operations that are not asynchronous return timestamps, as in Lapse and AdaPM
    def pull(
        self,
        keys: Any,
        values: Any = None,
        asynchronous: bool = False,
        *,
        out: Any = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Any: ...
    @overload
    def push(
        self, keys: Any, values: Any, asynchronous: Literal[False] = False, *, timeout: float | None = None
    ) -> None: ...
    @overload
    def push(
        self, keys: Any, values: Any, asynchronous: Literal[True], *, timeout: float | None = None
    ) -> Timestamp: ...
    @overload
    def push(
        self,
        keys: Any,
        values: Any = None,
        asynchronous: bool = False,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> Timestamp | None: ...
    @overload
    def set(
        self, keys: Any, values: Any, asynchronous: Literal[False] = False, *, timeout: float | None = None
    ) -> None: ...
    @overload
    def set(
        self, keys: Any, values: Any, asynchronous: Literal[True], *, timeout: float | None = None
    ) -> Timestamp: ...
    @overload
    def set(
        self,
        keys: Any,
        values: Any = None,
        asynchronous: bool = False,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> Timestamp | None: ...
    def staggered_push(
        self, keys: Any, values: Any = None, group: int = 10000, asynchronous: bool = False, **options: Any
    ) -> Any: ...
    def pull_if_local(self, keys: Any, values: Any = None, **options: Any) -> bool: ...
    def last_timestamp(self) -> Timestamp: ...

@disjoint_base
class Worker(Operations):
    @property
    def id(self) -> int: ...
    @property
    def num_keys(self) -> int | None: ...
    @overload
    def localize(
        self, keys: Any, asynchronous: Literal[False] = False, *, timeout: float | None = None
    ) -> None: ...
    @overload
    def localize(
        self, keys: Any, asynchronous: Literal[True], *, timeout: float | None = None
    ) -> Timestamp: ...
    @overload
    def localize(
        self, keys: Any, asynchronous: bool = False, *, timeout: float | None = None, **options: bool
    ) -> Timestamp | None: ...
    def intent(self, keys: Any, start: int, end: int = 0, *, timeout: float | None = None) -> None: ...
    def advance_clock(self) -> int: ...
    def current_clock(self) -> int: ...
    def wait(self, *timestamps: int, timeout: float | None = None) -> None: ...
    def is_finished(self, timestamp: int) -> bool: ...
    def waitall(self, timeout: float | None = None) -> None: ...
    def wait_sync(self, timeout: float | None = None) -> None: ...
    def quiesce(self, timeout: float | None = None) -> None: ...
    def begin_setup(self) -> None: ...
    def end_setup(self, timeout: float | None = None) -> None: ...
    def barrier(self, timeout: float | None = None) -> None: ...
    def stats(self) -> dict[str, int]: ...
    def finalize(self, timeout: float | None = None) -> None: ...

class SamplingWorker(Worker):
    def prepare_sample(self, n: int, start: int, end: int = 0, *, timeout: float | None = None) -> int: ...
    def pull_sample(
        self,
        id: int,  # noqa: A002
        keys: Any,
        values: Any = None,
        asynchronous: bool = False,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> Any: ...
    def finish_sample(self, id: int) -> None: ...  # noqa: A002
