"""The strict core: nodes and workers of ps.h on contiguous typed buffers.

A method checks its arguments, makes one call without the GIL if it may take long, and turns the code into an exception.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uintptr_t

from pyps._spans cimport BFLOAT, FLOAT, INTEGER, Span, close_span, open_keys, open_span, open_typed

import operator
import time

from pyps import arrays
from pyps.errors import AttachError, ClosedError, NodeLost, WaitTimeoutError
from pyps.timestamps import ANSWERED

# Work above which the GIL is released: about a microsecond, in units of a nanosecond.
cdef double worth_releasing = 1000.0
cdef double ns_per_key = 20.0
cdef double ns_per_byte = 0.1

# Seconds after which a wait looks for signals, which another thread may have received.
cdef double signals_every = 0.05

if ps_abi_version() != PS_ABI_VERSION:
    raise ImportError(f"pyps was built for version {PS_ABI_VERSION} of libps, but version {ps_abi_version()} was found "
                      "beside it: build both again")


cdef int check(int32_t code) except -1:
    """Raise the exception for a code of ps.h."""
    cdef const ps_error *error
    if code == PS_OK:
        return 0
    error = ps_last_error()
    message = error.message.decode("utf-8", "replace")
    if code == PS_ENOMEM:
        raise MemoryError(message)
    if code == PS_ETIMEDOUT:
        raise WaitTimeoutError(message)
    if code == PS_ECLOSED:
        raise ClosedError(message)
    if code == PS_ELOST:
        raise NodeLost(message)
    if code == PS_EADDRESS:
        raise AttachError(message)
    if code == PS_ESYSTEM:
        raise OSError(error.value, message)
    if code == PS_EINVAL or code == PS_EKEY or code == PS_ESIZE:
        raise ValueError(message)
    raise RuntimeError(message)


cdef int64_t whole(object value, str name, int64_t most) except? -1:
    """Read an integer argument; the core checks its lower bound."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not -most <= number <= most:
        raise ValueError(f"{name} is {number}; at most {most} is possible")
    return number


cdef double seconds(object timeout) except -1:
    """Read a timeout; None is 0, which means the default."""
    cdef double value
    if timeout is None:
        return 0.0
    value = timeout
    if not isfinite(value) or value < 0:
        raise ValueError(f"timeout is {timeout!r}; it must be a number of seconds, or None for the default")
    return max(value, 1e-9)


cdef class Node:
    """A node's store, created by this process or attached to.

    Parameters
    ----------
    address : str, optional
        Attach to the server at this address; the other parameters but `timeout` are of no meaning then.
    num_keys : int
    value_lengths : contiguous int64 buffer
        One length for all keys or one for each.
    dtype : pyps.dtypes.Dtype
    max_workers, num_workers, memory_limit : int
    latch_timeout, timeout : float
        Seconds.
    """

    def __init__(self, address=None, *, num_keys=0, value_lengths=None, dtype=None, max_workers=0, num_workers=0,
                 memory_limit=0, latch_timeout=None, timeout=None):
        cdef ps_node_options options
        cdef Span lengths
        cdef int32_t code
        cdef bytes where
        cdef const char *text
        cdef double limit = seconds(timeout)
        from pyps.dtypes import DTYPES

        if self.node != NULL:
            raise RuntimeError("a node is initialized once")
        if address is not None:
            where = address.encode()
            if b"\0" in where:
                raise ValueError(f"{address!r} is not an address of a server: it holds a NUL")
            text = where
            with nogil:
                code = ps_node_attach(text, limit, &self.node)
        else:
            options.num_keys = whole(num_keys, "num_keys", INT64_MAX)
            options.dtype = dtype.number
            options.max_workers = <int32_t> whole(max_workers, "max_workers", INT32_MAX)
            options.num_workers = <int32_t> whole(num_workers, "num_workers", INT32_MAX)
            options.memory_limit = whole(memory_limit, "memory_limit", INT64_MAX)
            options.latch_timeout = seconds(latch_timeout)
            open_keys(value_lengths, &lengths)
            options.value_lengths = <const int64_t *> lengths.data
            options.num_lengths = lengths.elements
            with nogil:
                code = ps_node_create(&options, &self.node)
            close_span(&lengths)
        check(code)
        check(ps_node_get_info(self.node, &self.info))
        self.dtype = next(row for row in DTYPES.values() if row.number == self.info.dtype)

    def __dealloc__(self):
        with nogil:
            ps_node_free(self.node)

    @property
    def num_keys(self):
        """Keys are in [0, num_keys)."""
        return self.info.num_keys

    @property
    def value_length(self):
        """Elements of every key's value; None if they differ."""
        return self.info.value_length or None

    @property
    def total_values(self):
        """Elements of all values together."""
        return self.info.total_values

    @property
    def max_workers(self):
        """How many workers there may be at once."""
        return self.info.max_workers

    @property
    def is_open(self):
        """False once the server was shut down."""
        return bool(ps_node_is_open(self.node))

    @property
    def handle(self):
        """The address of the ps_node, for other users of ps.h in this process while this object lives."""
        return <uintptr_t> self.node

    def total_length(self, keys):
        """Return how many elements the values of the keys have together."""
        cdef Span span
        cdef int64_t total = 0
        cdef int32_t code
        open_keys(keys, &span)
        code = ps_node_total_length(self.node, <const int64_t *> span.data, span.elements, &total)
        close_span(&span)
        check(code)
        return total

    def listen(self):
        """Start to let other processes attach; return the address."""
        cdef char address[128]
        check(ps_node_listen(self.node, address, sizeof(address)))
        return address.decode()

    def shutdown(self):
        """Close the store for every worker, if this process created it."""
        with nogil:
            ps_node_shutdown(self.node)

    def stats(self):
        """Return what is counted, as a dict of int."""
        cdef ps_node_stats stats
        check(ps_node_get_stats(self.node, &stats))
        return stats


cdef class Worker:
    """A worker of a node.

    Calls of several threads run one after another. In a forked child the first call makes it a worker of its own.

    Parameters
    ----------
    store : Node
    """

    def __init__(self, Node store not None):
        if self.worker != NULL:
            raise RuntimeError("a worker is initialized once")
        check(ps_worker_create(store.node, &self.worker))
        self.store = store
        self.code = INTEGER if store.dtype.is_integer else BFLOAT if store.dtype.name == "bfloat16" else FLOAT
        self.bits = store.info.element_bytes * 8

    def __dealloc__(self):
        with nogil:
            ps_worker_free(self.worker)
            ps_worker_free(self.parents)

    cdef ps_worker *inherited(self, ps_worker *used) except NULL:
        """Return a worker for this forked child in place of the parent's, which is left alone."""
        cdef ps_worker *fresh = NULL
        if self.worker != used:
            return self.worker
        if self.finalized:
            raise ClosedError("the worker is finalized")
        check(ps_worker_create(self.store.node, &fresh))
        ps_worker_free(self.parents)
        self.parents, self.worker = self.worker, fresh
        self.in_barrier = False
        return fresh

    cdef object operate(self, int operation, object keys, object vals, int32_t *local):
        """Run pull, push or set; with `local`, pull all keys or none and tell which."""
        cdef Span k, v
        cdef bint writes = operation == PS_PULL
        cdef ps_request request
        cdef ps_worker *worker = self.worker
        cdef int32_t code
        copy_back = None
        if worker == NULL:
            raise ClosedError("the worker was not initialized")
        open_keys(keys, &k)
        try:
            if not open_typed(vals, writes, self.code, self.bits, &v):
                if writes:
                    converted, copy_back = arrays.as_output(vals, self.store.dtype)
                else:
                    converted = arrays.as_input(vals, self.store.dtype)
                if not open_span(converted, writes, &v):
                    raise AssertionError("pyps.arrays returned no plain buffer")
            try:
                request.operation = operation
                request.keys = <const int64_t *> k.data
                request.num_keys = k.elements
                request.values = v.data
                request.num_values = v.elements
                request.done = 0
                code = self.submit(worker, &request, local)
                if code == PS_EFORKED:
                    code = self.submit(self.inherited(worker), &request, local)
                check(code)
            finally:
                close_span(&v)
        finally:
            close_span(&k)
        if copy_back is not None and (local == NULL or local[0]):
            copy_back()
        return ANSWERED

    cdef int32_t submit(self, ps_worker *worker, ps_request *request, int32_t *local) noexcept:
        """Keep the GIL for what is short and need not wait."""
        cdef int32_t code = PS_EBUSY
        cdef double work = ns_per_key * request.num_keys + ns_per_byte * request.num_values * (self.bits // 8)
        if local != NULL:
            with nogil:
                return ps_pull_if_local(worker, request.keys, request.num_keys, request.values, request.num_values,
                                        local)
        if work < worth_releasing:
            request.flags = PS_NOWAIT
            code = ps_run(worker, request)
        if code == PS_EBUSY:
            request.flags = 0
            with nogil:
                code = ps_run(worker, request)
        return code

    def pull(self, keys, vals, asynchronous=False, **options):
        """Read the values of keys into a buffer.

        Parameters
        ----------
        keys : array of int, shape (n,)
            0-based, in any order, also repeated. numpy, torch, list; int64 is used as it is.
        vals : array of the server's dtype, writable
            Any shape and strides, as many elements as the values of the keys have together. numpy or torch, on the CPU.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.

        Returns
        -------
        Timestamp
            Of the operation; -1 as it was answered at once.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was written.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be had. After a timeout the first part of `vals` may be filled.
        """
        if options:
            arrays.check_options(options)
        return self.operate(PS_PULL, keys, vals, NULL)

    def push(self, keys, vals, asynchronous=False, **options):
        """Add to the values of keys; each key's addition is atomic, and a repeated key gets every one.

        Parameters
        ----------
        keys : array of int, shape (n,)
        vals : array of the server's dtype
            Any shape and strides, as many elements as the values of the keys have together. Nested lists too.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.

        Returns
        -------
        Timestamp
            Of the operation; -1 as it was answered at once.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be reached. After a timeout the first keys may have got theirs.
        """
        if options:
            arrays.check_options(options)
        return self.operate(PS_PUSH, keys, vals, NULL)

    def set(self, keys, vals, asynchronous=False, **options):
        """Replace the values of keys; of a repeated key's values the last one stays.

        Parameters, results and errors are those of `push`.
        """
        if options:
            arrays.check_options(options)
        return self.operate(PS_SET, keys, vals, NULL)

    def pull_if_local(self, keys, vals):
        """Pull if every key lives on this node, else leave the buffer as it is.

        Returns
        -------
        bool
            Whether the values were pulled.
        """
        cdef int32_t local = 0
        self.operate(PS_PULL, keys, vals, &local)
        return bool(local)

    def localize(self, keys, asynchronous=False, **options):
        """Move the keys to this node; on the only node they are there already.

        Parameters
        ----------
        keys : array of int, shape (n,)
        asynchronous : bool
            Return at once and end later.

        Returns
        -------
        Timestamp
            Of the operation; -1 as it was answered at once.
        """
        cdef Span k
        cdef int32_t code
        cdef ps_worker *worker
        if options:
            arrays.check_options(options)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            with nogil:
                code = ps_localize(worker, <const int64_t *> k.data, k.elements, NULL)
            check(code)
        finally:
            close_span(&k)
        return ANSWERED

    def intent(self, keys, start, end=0):
        """Tell that this worker will use the keys in clocks [start, end).

        Parameters
        ----------
        keys : array of int, shape (n,)
        start, end : int
            Clocks; an `end` of 0 means ``start + 1``.
        """
        cdef Span k
        cdef int32_t code
        cdef ps_worker *worker
        cdef int64_t begin = whole(start, "start", INT64_MAX), finish = whole(end, "end", INT64_MAX)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            with nogil:
                code = ps_intent(worker, <const int64_t *> k.data, k.elements, begin, finish)
            check(code)
        finally:
            close_span(&k)

    def advance_clock(self):
        """Add one to this worker's clock and return it."""
        cdef int64_t clock = 0
        check(ps_advance_clock(self.usable(), &clock))
        return clock

    def current_clock(self):
        """Return this worker's clock, which starts at 0."""
        cdef int64_t clock = 0
        check(ps_current_clock(self.usable(), &clock))
        return clock

    def wait(self, *timestamps, timeout=None):
        """Wait until the operations with these timestamps have ended.

        Parameters
        ----------
        *timestamps : int
            As the operations returned them; -1 has ended.
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        ValueError
            No operation of this worker had such a timestamp; nothing was waited for.
        """
        cdef double limit = seconds(timeout)
        cdef ps_worker *worker = self.usable()
        cdef int64_t number
        cdef int32_t code
        for timestamp in timestamps:
            self.is_finished(timestamp)
        for timestamp in timestamps:
            number = timestamp
            with nogil:
                code = ps_wait(worker, number, limit)
            check(code)

    def is_finished(self, timestamp):
        """Tell whether an operation has ended. Raises ValueError for a timestamp that none had."""
        cdef int32_t finished = 0
        cdef int64_t number
        try:
            number = operator.index(timestamp)
        except OverflowError:
            raise ValueError(f"timestamp {timestamp} was not returned by an operation of this worker") from None
        check(ps_is_finished(self.usable(), number, &finished))
        return bool(finished)

    def waitall(self, timeout=None):
        """Wait until every operation of this worker has ended."""
        cdef double limit = seconds(timeout)
        cdef ps_worker *worker = self.usable()
        cdef int32_t code
        with nogil:
            code = ps_wait_all(worker, limit)
        check(code)

    def barrier(self, timeout=None):
        """Wait until every worker of the node, thread or process, has come to a barrier.

        Workers that finalize or die meanwhile are not waited for.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        WaitTimeoutError
            Some did not come. This worker has left the barrier.
        """
        cdef double limit = seconds(timeout) or 300.0
        cdef double end = time.monotonic() + limit
        cdef ps_worker *worker = self.usable()
        cdef int32_t code
        if self.in_barrier:
            raise ValueError("another thread is in a barrier with this worker: each thread needs its own worker")
        self.in_barrier = True
        try:
            while True:
                with nogil:
                    code = ps_barrier_step(worker, limit, signals_every)
                if code != PS_EBUSY:
                    break
                try:
                    PyErr_CheckSignals()
                except BaseException:
                    ps_barrier_step(worker, 1e-9, 1.0)  # leave it
                    raise
                limit = max(end - time.monotonic(), 1e-9)
            check(code)
        finally:
            self.in_barrier = False

    def stats(self):
        """Return what this worker's calls counted, as a dict of int."""
        cdef ps_worker_stats stats
        check(ps_worker_get_stats(self.usable(), &stats))
        return stats

    @property
    def id(self):
        """The worker's number on its node, from 1, while it is not finalized; then 0."""
        return ps_worker_id(self.worker)

    @property
    def num_keys(self):
        """Keys are in [0, num_keys)."""
        if self.store is None:
            raise ClosedError("the worker was not initialized")
        return self.store.info.num_keys

    cdef ps_worker *usable(self) except NULL:
        """Return the worker of this process, which may be a forked child."""
        cdef int64_t clock
        cdef ps_worker *worker = self.worker
        if worker == NULL:
            raise ClosedError("the worker was not initialized")
        if ps_current_clock(worker, &clock) == PS_EFORKED:
            worker = self.inherited(worker)
        return worker

    def finalize(self):
        """Leave the node. May be called again, and from any thread."""
        self.finalized = True
        if self.worker != NULL:
            with nogil:
                ps_worker_finalize(self.worker)
