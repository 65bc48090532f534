# The class Worker: where keys live, a worker's clock, and its waits.
cdef class Worker(Existence):
    """A worker of a node.

    Calls of several threads run one after another. In a forked child, the first call makes a new worker of the node.

    Parameters
    ----------
    store : Node
    """

    cdef ps_worker *inherited(self, ps_worker *used) except NULL:
        self.is_waiting = False
        return Existence.inherited(self, used)

    def localize(self, keys, asynchronous=False, *, timeout=None, **options):
        """Bring the keys to live on this node. On the only node it does nothing.

        Parameters
        ----------
        keys : array of int, shape (n,)
        asynchronous : bool
            Return at once and end later.
        timeout : float, optional
            Seconds for everything that the call waits for, as in `pull`; default 300.

        Returns
        -------
        Timestamp or None
            What to wait for, if it is asynchronous.

        Raises
        ------
        WaitTimeoutError
            It took longer. If the message says that it was sent, the keys may have come, or may still come.
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
            while prepare_call(&wait, code):
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
        """Say that this worker will use the keys in clocks [start, end).

        The node brings them here in time, or replicas of them, by what `techniques` of `pyps.Server` says. With "auto"
        it may skip intents of at most 8 clocks.

        Parameters
        ----------
        keys : array of int, shape (n,)
        start, end : int
            Clocks; an `end` of 0 means ``start + 1``.
        timeout : float, optional
            Seconds to wait if this node's server has not read this worker's earlier intents; default 300.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; there is no intent.
        WaitTimeoutError
            The server did not read the worker's earlier intents in time; there is no new one.
        """
        cdef Span k
        cdef int32_t code = PS_EBUSY
        cdef ps_worker *worker
        cdef Wait wait
        cdef int64_t first = whole(start, "start", INT64_MAX), stop = whole(end, "end", INT64_MAX)
        limit(&wait, timeout, False)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            while prepare_call(&wait, code):
                with nogil:
                    code = ps_intent(worker, <const int64_t *> k.data, k.elements, first, stop)
            check(code)
        finally:
            close_span(&k)

    def advance_clock(self):
        """Add one to this worker's clock and return it."""
        cdef int64_t clock = 0
        check(ps_advance_clock(self.usable(), &clock))
        if self.followers is not None:
            for follower in self.followers[:]:
                try:
                    follower.advance_clock()
                except ClosedError:  # its table was dropped, or it is finalized
                    self.followers.remove(follower)
        return clock

    def lead(self, Worker follower):
        """Let another worker's clock, which must not be ahead, be as this one's from now on."""
        while follower.current_clock() < self.current_clock():
            follower.advance_clock()
        if self.followers is None:
            self.followers = []
        self.followers.append(follower)

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
            What the operations returned; -1 stands for one that has ended.
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        ValueError
            No operation of this worker has returned one of these; nothing was waited for.
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
            while prepare_call(&wait, code):
                with nogil:
                    code = ps_wait(worker, number, wait.left)
            check_wait(code, &wait)
            self.give_back(number)

    def is_finished(self, timestamp):
        """Return whether an operation has ended; ValueError for a timestamp that no operation returned."""
        cdef int32_t finished = 0
        cdef int64_t number
        try:
            number = operator.index(timestamp)
        except OverflowError:
            raise ValueError(f"timestamp {timestamp} was not returned by an operation of this worker") from None
        except TypeError:
            raise TypeError(f"a timestamp must be an integer, not {type(timestamp).__name__}") from None
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
        while prepare_call(&wait, code):
            with nogil:
                code = ps_wait_all(worker, wait.left)
        check_wait(code, &wait)
        for number in list(self.borrowed):
            self.give_back(number)

    cdef int patiently(self, WorkerWait call, object timeout, int64_t behind=0) except -1:
        """Wait with `call` for other workers, or follow what was exchanged `behind` calls before.

        If that fails, call it once more, to give the wait up in the core.
        """
        cdef Wait wait
        cdef ps_worker *worker = self.usable()
        cdef int32_t code = PS_EBUSY
        limit(&wait, timeout, True)
        if self.is_waiting:
            raise ValueError("another thread waits with this worker: each thread needs its own worker")
        self.is_waiting = True
        try:
            while prepare_call(&wait, code):
                with nogil:
                    code = ps_follow_sync(worker, behind, wait.left) if behind else call(worker, wait.left)
            check_wait(code, &wait)
        except BaseException:
            if code == PS_EBUSY:
                with nogil:
                    code = ps_follow_sync(worker, behind, shortest) if behind else call(worker, shortest)
            raise
        finally:
            self.is_waiting = False
        return 0

    cdef int settle(self, WorkerWait call, object timeout) except -1:
        """Wait with `call`, after which all operations have ended."""
        self.patiently(call, timeout)
        for number in list(self.borrowed):
            self.give_back(number)
        return 0

    def wait_sync(self, timeout=None, behind=0):
        """Wait until this worker's operations, and the replicas of this node, have been exchanged with other nodes.

        After it: the worker's operations have ended; the keys of its intents that have begun live here or have a
        replica here; everything that was pushed to replicas on this node is part of their owners' values; and the
        replicas here have at least the values that the owners had at the time of the call.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.
        behind : int, optional
            If it is above 0, only begin an exchange, of what was pushed to replicas on this node, and wait for the one
            that this worker began so many calls before. A worker that calls it after each batch hardly waits, and
            its owners lack at most so many of its batches. Operations, and keys on their way, are not waited for.

        Raises
        ------
        WaitTimeoutError
            It took longer.
        """
        cdef int64_t calls = behind
        if calls < 0:
            raise ValueError(f"behind is {behind}; it must not be negative")
        if calls:
            self.patiently(ps_wait_sync, timeout, calls)
        else:
            self.settle(ps_wait_sync, timeout)

    def quiesce(self, timeout=None):
        """Wait until this node has nothing on its way: no operation of this worker, no key, no replica, no delta.

        When it has returned on workers of all nodes, and no worker has done anything meanwhile, nothing is on its way
        anywhere, and every replica equals its owner's value.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        WaitTimeoutError
            It took longer. While other workers are active, it may take as long as they are.
        """
        self.settle(ps_quiesce, timeout)

    def begin_setup(self):
        """Begin to set up values: until `end_setup`, this worker's intents have no effect and nothing is counted."""
        check(ps_begin_setup(self.usable()))

    def end_setup(self, timeout=None):
        """End what `begin_setup` began: call `wait_sync` and `barrier`, and both once more.

        Every worker of every node must call it, as with `barrier`. After it all of them see what any did before it.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        WaitTimeoutError
            Some worker did not call it in time.
        """
        self.settle(ps_end_setup, timeout)

    def barrier(self, timeout=None):
        """Wait until every worker of every node, in any thread or process, has called it.

        It waits for all workers that have joined; on a node with `num_workers` also until so many have joined. It does
        not wait for workers that are finalized or die meanwhile, nor for nodes without workers.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.

        Raises
        ------
        WaitTimeoutError
            Some workers did not call it in time. This worker has left the barrier.
        """
        self.patiently(ps_barrier, timeout)

    def stats(self):
        """Return this worker's statistics, as a dict of int.

        Returns
        -------
        dict of str to int
            Calls: `pulls`, `pushes`, `sets`, `localizes`. Keys of the first three (a repeated key counts each time):
            `keys_pulled`, `keys_pushed`, `keys_set`. Of all these keys, `keys_local` were in this node's memory, and
            `keys_remote` were asked of a server; the local ones by operation: `keys_pulled_local`,
            `keys_pushed_local`, `keys_set_local`.

            Waits for another worker of this node that held a key: `latch_waits`, and `longest_wait_ns`, the longest in
            nanoseconds. `remote_operations`: pulls, pushes, sets and localizes that were sent and have ended. For these
            the nanoseconds from sending until the worker took the last answer in one of its calls: `remote_wait_ns`
            for all together, `longest_remote_ns` for the longest.
        """
        cdef ps_worker_stats stats
        check(ps_worker_get_stats(self.usable(), &stats, sizeof(stats)))
        return stats

    @property
    def id(self):
        """The worker's number on its node, from 1; 0 after it was finalized."""
        return ps_worker_id(self.worker)

    @property
    def num_keys(self):
        """Keys are in [0, num_keys); None if they may be any numbers."""
        if self.store is None:
            raise ClosedError("the worker was not initialized")
        return self.store.info.num_keys or None

    cdef bint is_pending(self) except -1:
        """Return whether operations of this process are on their way."""
        cdef int64_t operations = 0
        with nogil:
            ps_pending(self.worker, &operations)  # fails without a worker, and in a forked child: then there are none
        return operations > 0

    def finalize(self, timeout=None):
        """Wait for this worker's operations and leave the node. Any thread may call it, also more than once.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for operations that are on their way; default 300. With 0 they may be lost.

        Raises
        ------
        WaitTimeoutError, NodeLost
            Some operations did not end in time. The worker has left all the same.
        """
        cdef Wait wait
        limit(&wait, timeout, True)  # a wrong timeout changes nothing
        try:
            if (timeout is None or timeout > 0) and self.is_pending():
                with suppress(ClosedError):  # the server was shut down, so there is nothing to wait for
                    self.waitall(timeout)
        finally:
            self.finalized = True
            if self.worker != NULL:
                with nogil:
                    ps_worker_finalize(self.worker)
                self.borrowed.clear()
