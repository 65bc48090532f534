# What a worker does with keys and their values: pull, push, set.
cdef class Borrowed:
    """The memory of values, what keeps it alive, and how to copy it to where the caller wants it."""

    def __dealloc__(self):
        close_span(&self.span)


cdef class Operations:
    """The operations of a worker, without what it waits for: see `Worker`."""

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
        return fresh

    cdef int require_worker(self) except -1:
        if self.worker == NULL:
            raise ClosedError("the worker was not initialized")
        return 0

    cdef ps_worker *usable(self) except NULL:
        """Return the worker of this process, which may be a forked child."""
        cdef int64_t clock
        cdef ps_worker *worker = self.worker
        self.require_worker()
        if ps_current_clock(worker, &clock) == PS_EFORKED:
            worker = self.inherited(worker)
        return worker

    cdef object operate(self, int operation, object keys, object vals, bint asynchronous, object timeout,
                        int32_t *local):
        """Run pull, push or set; with `local`, pull all keys or none and tell which."""
        cdef Span k
        cdef Span *v
        cdef Borrowed borrowed = Borrowed()
        cdef bint writes = operation == PS_PULL
        cdef int32_t here = 0
        cdef ps_request request
        cdef Wait wait
        limit(&wait, timeout, True)
        if writes and asynchronous and can_move(vals):
            self.operate(operation, keys, vals, False, None, &here)
            if here:
                return ANSWERED
        v = &borrowed.span
        self.require_worker()
        open_keys(keys, &k)
        try:
            self.borrow(vals, writes, False, asynchronous, borrowed)
            request.operation = operation
            request.flags = PS_ASYNC if asynchronous else 0
            request.keys = <const int64_t *> k.data
            request.num_keys = k.elements
            request.values = v.data
            request.num_values = v.elements
            self.carry_out(&request, &wait, local)
        finally:
            close_span(&k)
        if local == NULL and asynchronous and request.timestamp >= 0:
            return self.pending(request.timestamp, vals, borrowed if writes else None)
        if local == NULL or local[0]:
            self.complete(vals, writes, borrowed)
        return self.result(vals, writes, asynchronous)

    cdef object result(self, object vals, bint writes, bint asynchronous):
        """Return what an operation returns that has ended."""
        if asynchronous:
            return ANSWERED
        if self.tells_timestamps:
            return self.last_timestamp()
        return vals if writes else None

    cdef object pull_new(self, object keys, bint asynchronous, object timeout):
        """Pull into a new array or tensor; return it, or a timestamp that has it."""
        cdef int64_t length
        self.require_worker()
        length = self.store.info.value_length
        if not hasattr(keys, "shape"):
            keys = arrays.as_keys(keys)
        vals = arrays.new_values(keys, self.store.dtype, length, 0 if length else self.store.total_length(keys))
        timestamp = self.operate(PS_PULL, keys, vals, asynchronous, timeout, NULL)
        if not asynchronous:
            return vals
        if timestamp is ANSWERED:
            timestamp = Timestamp(-1)
        timestamp.values = vals
        return timestamp

    cdef int carry_out(self, ps_request *request, Wait *wait, int32_t *local) except -1:
        """Run a request: to its end, or until it has a timestamp if it is asynchronous."""
        cdef ps_worker *worker = self.worker
        cdef int32_t code
        request.done = 0
        request.timeout = 0
        code = self.submit(worker, request, wait, local)
        if code == PS_EFORKED:
            worker = self.inherited(worker)
            code = self.submit(worker, request, wait, local)
        if code == PS_EBUSY:
            return self.persist(worker, request, wait)
        return check_wait(code, wait)

    cdef int persist(self, ps_worker *worker, ps_request *request, Wait *wait) except -1:
        """Go on with a request that has to wait."""
        cdef int32_t code = PS_EBUSY
        while request.timestamp < 0 and goes_on(wait, code):
            request.timeout = wait.left
            with nogil:
                code = ps_run(worker, request)
        if code == PS_EBUSY:
            return self.finish(worker, request.timestamp, wait)
        return check_wait(code, wait)

    cdef int finish(self, ps_worker *worker, int64_t timestamp, Wait *wait) except -1:
        """Wait for an operation that is not asynchronous. If that fails, nothing writes to its buffer any more."""
        cdef int32_t code = PS_EBUSY
        wait.tells = True
        try:
            while goes_on(wait, code):
                with nogil:
                    code = ps_wait(worker, timestamp, wait.left)
            return check_wait(code, wait)
        except BaseException:
            ps_abandon(worker, timestamp)
            raise

    cdef int borrow(self, object vals, bint writes, bint keep, bint asynchronous, Borrowed borrowed) except -1:
        """Borrow the memory of values, or of what stands in for them: see `borrow_other`."""
        if writes and asynchronous and can_move(vals):
            return self.borrow_other(vals, writes, keep, borrowed)
        if not open_typed(vals, writes, self.code, self.bits, &borrowed.span):
            return self.borrow_other(vals, writes, keep, borrowed)
        return 0

    cdef int complete(self, object vals, bint writes, Borrowed borrowed) except -1:
        """All that was wanted is in the borrowed memory."""
        if borrowed.copy_back is not None:
            borrowed.copy_back()
        elif writes:
            note_written(vals, &borrowed.span)
        return 0

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
                borrowed.owner, borrowed.copy_back = arrays.held(vals)
            self.borrowed[timestamp] = borrowed
        return Pending(timestamp, self)

    cdef int give_back(self, int64_t timestamp) except -1:
        """An operation has ended: fill what a pull was to fill, and let go of it."""
        cdef Borrowed borrowed = self.borrowed.pop(timestamp, None)
        if borrowed is not None and borrowed.copy_back is not None:
            borrowed.copy_back()
        return 0

    cdef int32_t submit(self, ps_worker *worker, ps_request *request, Wait *wait, int32_t *local) except -1:
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
            goes_on(wait, PS_EBUSY)
            request.timeout = wait.left
            with nogil:
                code = ps_run(worker, request)
        return code

    def pull(self, keys, vals=None, asynchronous=False, *, out=None, timeout=None, **options):
        """Read the values of keys.

        Parameters
        ----------
        keys : array of int, shape (n,)
            0-based, in any order, also repeated. numpy, torch, list; int64 is used as it is.
        vals, out : array of the server's dtype, writable, optional
            Two names for one thing: where to put the values. Any shape and strides, as many elements as the values of
            the keys have together. numpy or torch, on the CPU. Without it they come in a new one: a torch tensor if
            `keys` is one, or the server holds bfloat16, which numpy lacks; else a numpy array. Its shape is that of
            `keys` and behind it the value length; where values have different lengths it is flat, one after another.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.
        timeout : float, optional
            Seconds for all that the call waits for, 300 unless said: until this node's server knows the worker, earlier
            operations on the same keys or buffer have ended, and what is on its way leaves room (`in_flight`); and,
            unless asynchronous, for the answer. A key that somebody on this node holds is waited for by the server's
            `latch_timeout` instead.

        Returns
        -------
        array or Timestamp
            The values: `vals`, or what was made in its place. Of an asynchronous pull its timestamp, whose `wait`
            returns what was made.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was written.
        WaitTimeoutError
            It took longer than `timeout`. The message says what was waited for, and whether the pull was sent: if so,
            a part of `vals` may be filled, but nothing writes to it any more.
        ClosedError, NodeLost
            The values cannot be had.
        KeyboardInterrupt, or whatever a handler raises
            A signal came while this waited for other nodes. Nothing writes to `vals` any more.
        """
        if options:
            asynchronous = arrays.check_options(options)
        if out is not None:
            if vals is not None:
                raise TypeError("vals and out are two names for the same buffer: pass one of them")
            vals = out
        if vals is None:
            return self.pull_new(keys, asynchronous, timeout)
        return self.operate(PS_PULL, keys, vals, asynchronous, timeout, NULL)

    def push(self, keys, vals, asynchronous=False, *, timeout=None, **options):
        """Add to the values of keys; each key's addition is atomic, and a repeated key gets every one.

        Parameters
        ----------
        keys : array of int, shape (n,)
        vals : array of the server's dtype
            Any shape and strides, as many elements as the values of the keys have together. Nested lists too.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.
        timeout : float, optional
            Seconds for all that the call waits for, as for `pull`; 300 unless said.

        Returns
        -------
        Timestamp
            Of an asynchronous operation, to be waited for; otherwise None.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        WaitTimeoutError
            It took longer than `timeout`. The message says what was waited for, and whether the operation was sent: if
            so, it may have been done, or be done yet; if not, nothing was done, unless the message names keys.
        ClosedError, NodeLost
            The values cannot be reached.
        KeyboardInterrupt, or whatever a handler raises
            A signal came while this waited for other nodes. The keys may have got their values, or get them yet.
        """
        if options:
            asynchronous = arrays.check_options(options)
        return self.operate(PS_PUSH, keys, vals, asynchronous, timeout, NULL)

    def set(self, keys, vals, asynchronous=False, *, timeout=None, **options):
        """Replace the values of keys; of a repeated key's values the last one stays.

        Parameters, results and errors are those of `push`.
        """
        if options:
            asynchronous = arrays.check_options(options)
        return self.operate(PS_SET, keys, vals, asynchronous, timeout, NULL)

    def staggered_push(self, keys, vals, group=10000, asynchronous=False, **options):
        """Push many keys in groups, each when the one before it has ended: to set up a large model, for instance.

        A plain push sends all of them at once, which takes as much memory again as they have, here and in the messages,
        and has the servers work on nothing else meanwhile. The bound `in_flight` holds back what comes after a large
        push, but splits none; this sends no more than a group at a time. For keys and values of less than a few
        megabytes `push` is faster, as it does not wait in between.

        Parameters
        ----------
        keys : array of int, shape (n,)
        vals : array of the server's dtype
            As for `push`.
        group : int
            How many keys are pushed at a time, at least 1.
        asynchronous : bool
            Return when the last group is on its way, which is waited for with what is returned; also as
            ``**{"async": True}``.

        Returns
        -------
        Timestamp
            Of all of it, as the groups before the last one have ended, if it is asynchronous; otherwise None.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be reached. Former groups have been added.
        KeyboardInterrupt, or whatever a handler raises
            A signal came while this waited for other nodes. Former groups have been added.
        """
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef ps_request request
        cdef int64_t most = whole(group, "group", INT64_MAX), left, total = 0
        cdef Wait wait
        self.require_worker()
        if options:
            asynchronous = arrays.check_options(options)
        if most < 1:
            raise ValueError(f"group is {most}; at least one key is pushed at a time")
        open_keys(keys, &k)
        try:
            if not open_typed(vals, False, self.code, self.bits, &borrowed.span):
                self.borrow_other(vals, False, False, borrowed)
            request.operation = PS_PUSH
            request.keys = <const int64_t *> k.data
            request.values = borrowed.span.data
            check(ps_node_total_length(self.store.node, request.keys, k.elements, &total))
            if total != borrowed.span.elements:
                raise ValueError(f"the buffer has {borrowed.span.elements} elements, the keys need {total}")
            left = k.elements
            while True:
                request.num_keys = min(left, most)
                left -= request.num_keys
                check(ps_node_total_length(self.store.node, request.keys, request.num_keys, &request.num_values))
                request.flags = PS_ASYNC if asynchronous and not left else 0
                limit(&wait, None, True)
                self.carry_out(&request, &wait, NULL)
                if not left:
                    break
                request.keys += request.num_keys
                request.values = <char *> request.values + request.num_values * (self.bits // 8)
        finally:
            close_span(&k)
        if asynchronous and request.timestamp >= 0:
            return self.pending(request.timestamp, vals, None)
        return self.result(vals, False, asynchronous)

    def pull_if_local(self, keys, vals):
        """Pull if every key lives on this node, else leave the buffer as it is.

        Returns
        -------
        bool
            Whether the values were pulled.
        """
        cdef int32_t local = 0
        self.operate(PS_PULL, keys, vals, False, None, &local)
        return bool(local)

    def last_timestamp(self):
        """Return the timestamp of this worker's last operation, also if its call has waited for it.

        Returns
        -------
        Timestamp
            -1 if it was answered at once. An intent, and a push in groups, are none.
        """
        cdef int64_t number = -1
        check(ps_last_timestamp(self.worker, &number))
        return ANSWERED if number < 0 else Pending(number, self)
