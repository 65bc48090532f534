# A worker's operations: pull, push, set and what goes with them.
cdef class Borrowed:
    """The memory of values, what keeps it alive, and how to copy it to where the caller wants it."""

    def __dealloc__(self):
        close_span(&self.span)


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
        self.borrowed = {}
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
        self.is_waiting = False
        return fresh

    cdef object operate(self, int operation, object keys, object vals, bint asynchronous, int32_t *local):
        """Run pull, push or set; with `local`, pull all keys or none and tell which."""
        cdef Span k
        cdef Span *v
        cdef Borrowed borrowed = Borrowed()
        cdef bint writes = operation == PS_PULL
        cdef ps_request request
        cdef ps_worker *worker = self.worker
        cdef int32_t code
        v = &borrowed.span
        if worker == NULL:
            raise ClosedError("the worker was not initialized")
        open_keys(keys, &k)
        try:
            if not open_typed(vals, writes, self.code, self.bits, v):
                self.borrow_other(vals, writes, False, borrowed)
            request.operation = operation
            request.flags = PS_ASYNC if asynchronous else 0
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
            close_span(&k)
        if local == NULL and request.timestamp >= 0:
            return self.pending(request.timestamp, vals, borrowed if writes else None)
        if borrowed.copy_back is not None and (local == NULL or local[0]):
            borrowed.copy_back()
        return ANSWERED

    cdef int borrow_other(self, object vals, bint writes, bint keep, Borrowed borrowed) except -1:
        """Borrow what stands in for values that are no plain memory: if not all of it is written, with `keep`."""
        if writes:
            borrowed.owner, borrowed.copy_back = arrays.as_output(vals, self.store.dtype, keep=keep)
        else:
            borrowed.owner = arrays.as_input(vals, self.store.dtype)
        if not open_span(borrowed.owner, writes, &borrowed.span):
            raise AssertionError("pyps.arrays returned no plain buffer")
        return 0

    cdef object pending(self, int64_t timestamp, object vals, Borrowed borrowed):
        """Return the timestamp of an operation on its way; until it has ended, keep what it will write, if anything."""
        if borrowed is not None:
            if borrowed.owner is None:
                borrowed.owner = vals
            self.borrowed[timestamp] = borrowed
        return Pending(timestamp, self)

    cdef int give_back(self, int64_t timestamp) except -1:
        """An operation has ended: fill what a pull was to fill, and let go of it."""
        cdef Borrowed borrowed = self.borrowed.pop(timestamp, None)
        if borrowed is not None and borrowed.copy_back is not None:
            borrowed.copy_back()
        return 0

    cdef int32_t submit(self, ps_worker *worker, ps_request *request, int32_t *local) noexcept:
        """Keep the GIL for what is short and need not wait."""
        cdef int32_t code = PS_EBUSY
        cdef double work = ns_per_key * request.num_keys + ns_per_byte * request.num_values * (self.bits // 8)
        if local != NULL:
            with nogil:
                return ps_pull_if_local(worker, request.keys, request.num_keys, request.values, request.num_values,
                                        local)
        if work < worth_releasing:
            request.flags |= PS_NOWAIT
            code = ps_run(worker, request)
        if code == PS_EBUSY:
            request.flags &= ~PS_NOWAIT
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
            Of the operation; -1 if it was answered at once.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was written.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be had. After a timeout the first part of `vals` may be filled.
        """
        if options:
            asynchronous = arrays.check_options(options)
        return self.operate(PS_PULL, keys, vals, asynchronous, NULL)

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
            Of the operation; -1 if it was answered at once.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be reached. After a timeout the first keys may have got theirs.
        """
        if options:
            asynchronous = arrays.check_options(options)
        return self.operate(PS_PUSH, keys, vals, asynchronous, NULL)

    def set(self, keys, vals, asynchronous=False, **options):
        """Replace the values of keys; of a repeated key's values the last one stays.

        Parameters, results and errors are those of `push`.
        """
        if options:
            asynchronous = arrays.check_options(options)
        return self.operate(PS_SET, keys, vals, asynchronous, NULL)

    def pull_if_local(self, keys, vals):
        """Pull if every key lives on this node, else leave the buffer as it is.

        Returns
        -------
        bool
            Whether the values were pulled.
        """
        cdef int32_t local = 0
        self.operate(PS_PULL, keys, vals, False, &local)
        return bool(local)

    def localize(self, keys, asynchronous=False, **options):
        """Have the keys live on this node; on the only node they do already.

        Parameters
        ----------
        keys : array of int, shape (n,)
        asynchronous : bool
            Return at once and end later.

        Returns
        -------
        Timestamp
            Of the operation; -1 if it was answered at once.
        """
        cdef Span k
        cdef int32_t code
        cdef ps_worker *worker
        cdef int64_t timestamp = -1
        if options:
            asynchronous = arrays.check_options(options)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            with nogil:
                code = ps_localize(worker, <const int64_t *> k.data, k.elements, &timestamp)
            check(code)
        finally:
            close_span(&k)
        if timestamp < 0:
            return ANSWERED
        if asynchronous:
            return Pending(timestamp, self)
        self.wait(timestamp)
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
            self.give_back(number)

    def is_finished(self, timestamp):
        """Tell whether an operation has ended. Raises ValueError for a timestamp that none had."""
        cdef int32_t finished = 0
        cdef int64_t number
        try:
            number = operator.index(timestamp)
        except OverflowError:
            raise ValueError(f"timestamp {timestamp} was not returned by an operation of this worker") from None
        check(ps_is_finished(self.usable(), number, &finished))
        if finished:
            self.give_back(number)
        return bool(finished)

    def waitall(self, timeout=None):
        """Wait until every operation of this worker has ended."""
        cdef double limit = seconds(timeout)
        cdef ps_worker *worker = self.usable()
        cdef int32_t code
        with nogil:
            code = ps_wait_all(worker, limit)
        check(code)
        for number in list(self.borrowed):
            self.give_back(number)

    cdef int patiently(self, WorkerStep step, object timeout) except -1:
        """Wait, but handle signals meanwhile; what they raise ends the wait."""
        cdef double limit = seconds(timeout) or 300.0
        cdef double end = time.monotonic() + limit
        cdef ps_worker *worker = self.usable()
        cdef int32_t code
        if self.is_waiting:
            raise ValueError("another thread waits with this worker: each thread needs its own worker")
        self.is_waiting = True
        try:
            while True:
                with nogil:
                    code = step(worker, limit, signals_every)
                if code != PS_EBUSY:
                    break
                try:
                    PyErr_CheckSignals()
                except BaseException:
                    step(worker, 1e-9, 1.0)  # leave it
                    raise
                limit = max(end - time.monotonic(), 1e-9)
            check(code)
        finally:
            self.is_waiting = False
        return 0

    cdef int settle(self, WorkerStep step, object timeout) except -1:
        """Wait for more than the operations on their way."""
        self.patiently(step, timeout)
        for number in list(self.borrowed):
            self.give_back(number)
        return 0

    def wait_sync(self, timeout=None):
        """Wait until what this worker did, and what is known here, has been exchanged with the other nodes.

        Its operations have ended; its intents that have begun are acted on: their keys live here or have a replica;
        what was added to replicas on this node is in the owners' values, and the replicas here have seen what these
        were at the time of the call.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        WaitTimeoutError
            It took longer.
        """
        self.settle(ps_wait_sync_step, timeout)

    def quiesce(self, timeout=None):
        """Wait until this node has nothing on its way: no operation of this worker, no key, no replica, no delta.

        When workers of all nodes have come back from it, and nobody operated meanwhile, that is so everywhere: every
        replica equals its owner's value.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        WaitTimeoutError
            It took longer; while others operate, it may take as long as they do.
        """
        self.settle(ps_quiesce_step, timeout)

    def begin_setup(self):
        """Begin to set up values: intents of this worker wait until `end_setup`, and statistics count nothing."""
        check(ps_begin_setup(self.usable()))

    def end_setup(self, timeout=None):
        """End what `begin_setup` began: `wait_sync` and a barrier, and both again.

        Every worker of every node calls it, as `barrier`; what one of them did before it, all see after it.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        WaitTimeoutError
            Some worker did not come.
        """
        self.settle(ps_end_setup_step, timeout)

    def barrier(self, timeout=None):
        """Wait until every worker of every node, thread or process, has come to a barrier.

        Of each node those are waited for that are there, and until its `num_workers` have joined. Workers that finalize
        or die meanwhile, and nodes without workers, are not waited for.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Raises
        ------
        WaitTimeoutError
            Some did not come. This worker has left the barrier.
        """
        self.patiently(ps_barrier_step, timeout)

    def stats(self):
        """Return what this worker's calls counted, as a dict of int.

        Returns
        -------
        dict of str to int
            Calls: `pulls`, `pushes`, `sets`. Their keys, each as often as it was named: `keys_pulled`, `keys_pushed`,
            `keys_set`. Of these together, `keys_local` were answered from this node's memory, and `keys_remote` by
            asking a server; by operation, `keys_pulled_local`, `keys_pushed_local`, `keys_set_local`.

            Waits for other workers of this node at one key: `latch_waits`, and `longest_wait_ns`, the longest one in
            nanoseconds. Waits for servers: `remote_operations`, pulls, pushes, sets and localizes that were sent and
            have ended; `remote_wait_ns`, the nanoseconds of all together, from when each was sent until this worker
            had its last answer, which it gets in a call; `longest_remote_ns`, those of the longest one.
        """
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

    cdef bint is_pending(self) except -1:
        """Are operations on their way, in this process?"""
        cdef int64_t operations = 0
        with nogil:
            ps_pending(self.worker, &operations)  # fails for no worker, and in a forked child
        return operations > 0

    def finalize(self, timeout=None):
        """Wait for this worker's operations and leave the node. May be called again, and from any thread.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for operations that are on their way; 300 unless said. With 0 they may be lost.

        Raises
        ------
        WaitTimeoutError, NodeLost
            Some did not end. The worker has left all the same.
        """
        try:
            if (timeout is None or timeout > 0) and self.is_pending():
                with suppress(ClosedError):  # the server was shut down before: nobody is left to wait for
                    self.waitall(timeout)
        finally:
            self.finalized = True
            if self.worker != NULL:
                with nogil:
                    ps_worker_finalize(self.worker)
                self.borrowed.clear()
