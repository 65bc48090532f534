# A worker: where its keys live, its clock, and its waits for operations and for others.
cdef class Worker(Operations):
    """A worker of a node.

    Calls of several threads run one after another. In a forked child the first call makes it a worker of its own.

    Parameters
    ----------
    store : Node
    """

    cdef ps_worker *inherited(self, ps_worker *used) except NULL:
        self.is_waiting = False
        return Operations.inherited(self, used)

    def localize(self, keys, asynchronous=False, *, timeout=None, **options):
        """Have the keys live on this node; on the only node they do already.

        Parameters
        ----------
        keys : array of int, shape (n,)
        asynchronous : bool
            Return at once and end later.
        timeout : float, optional
            Seconds for all that the call waits for, as for `pull`; 300 unless said.

        Returns
        -------
        Timestamp
            Of an asynchronous one; otherwise None.

        Raises
        ------
        WaitTimeoutError
            It took longer. If the message says that it was sent, the keys may have come, or come yet.
        """
        cdef Span k
        cdef int32_t code = PS_EBUSY
        cdef ps_worker *worker
        cdef int64_t timestamp = -1
        cdef Wait wait
        limit(&wait, timeout, False)
        if options:
            asynchronous = arrays.check_options(options)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            while goes_on(&wait, code):
                with nogil:
                    code = ps_localize(worker, <const int64_t *> k.data, k.elements, &timestamp)
            check(code)
        finally:
            close_span(&k)
        if asynchronous and timestamp >= 0:
            return Pending(timestamp, self)
        if timestamp >= 0:
            wait.is_begun = True
            self.finish(worker, timestamp, &wait)
        return self.result(None, False, asynchronous)

    def intent(self, keys, start, end=0, *, timeout=None):
        """Tell that this worker will use the keys in clocks [start, end).

        Parameters
        ----------
        keys : array of int, shape (n,)
        start, end : int
            Clocks; an `end` of 0 means ``start + 1``.
        timeout : float, optional
            Seconds for which the call may wait, if this node's server is behind with the intents of this worker; 300
            unless said.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was told.
        WaitTimeoutError
            The server did not take the worker's earlier intents in time; nothing was told.
        """
        cdef Span k
        cdef int32_t code = PS_EBUSY
        cdef ps_worker *worker
        cdef Wait wait
        cdef int64_t begin = whole(start, "start", INT64_MAX), finish = whole(end, "end", INT64_MAX)
        limit(&wait, timeout, False)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            while goes_on(&wait, code):
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
        cdef Wait wait
        cdef ps_worker *worker = self.usable()
        cdef int64_t number
        cdef int32_t code
        limit(&wait, timeout, True)
        for timestamp in timestamps:
            self.is_finished(timestamp)
        for timestamp in timestamps:
            number = timestamp
            code = PS_EBUSY
            while goes_on(&wait, code):
                with nogil:
                    code = ps_wait(worker, number, wait.left)
            check_wait(code, &wait)
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
        cdef Wait wait
        cdef ps_worker *worker = self.usable()
        cdef int32_t code = PS_EBUSY
        limit(&wait, timeout, True)
        while goes_on(&wait, code):
            with nogil:
                code = ps_wait_all(worker, wait.left)
        check_wait(code, &wait)
        for number in list(self.borrowed):
            self.give_back(number)

    cdef int patiently(self, WorkerWait call, object timeout) except -1:
        """Wait for others; whoever does not wait to the end leaves."""
        cdef Wait wait
        cdef ps_worker *worker = self.usable()
        cdef int32_t code = PS_EBUSY
        limit(&wait, timeout, True)
        if self.is_waiting:
            raise ValueError("another thread waits with this worker: each thread needs its own worker")
        self.is_waiting = True
        try:
            while goes_on(&wait, code):
                with nogil:
                    code = call(worker, wait.left)
            check_wait(code, &wait)
        except BaseException:
            if code == PS_EBUSY:
                with nogil:
                    call(worker, shortest)
            raise
        finally:
            self.is_waiting = False
        return 0

    cdef int settle(self, WorkerWait call, object timeout) except -1:
        """Wait for more than the operations on their way."""
        self.patiently(call, timeout)
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
        self.settle(ps_wait_sync, timeout)

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
        self.settle(ps_quiesce, timeout)

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
        self.settle(ps_end_setup, timeout)

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
        self.patiently(ps_barrier, timeout)

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
        check(ps_worker_get_stats(self.usable(), &stats, sizeof(stats)))
        return stats

    @property
    def id(self):
        """The worker's number on its node, from 1, while it is not finalized; then 0."""
        return ps_worker_id(self.worker)

    @property
    def num_keys(self):
        """Keys are in [0, num_keys); None where they may be any numbers."""
        if self.store is None:
            raise ClosedError("the worker was not initialized")
        return self.store.info.num_keys or None

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
