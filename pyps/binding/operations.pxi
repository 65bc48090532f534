# The class Operations: what a worker does with keys and their values.
cdef class Operations:
    """A worker's operations on values; `Worker` adds everything else."""

    def __init__(self, Node store not None):
        if self.worker != NULL:
            raise RuntimeError("a worker is initialized once")
        check(self.create(store.node, &self.worker))
        self.store, self.borrowed = store, {}
        self.code = INTEGER if store.dtype.is_integer else BFLOAT if store.dtype.name == "bfloat16" else FLOAT
        self.bits = store.info.element_bytes * 8

    def __dealloc__(self):
        with nogil:
            ps_worker_free(self.worker)
            ps_worker_free(self.parents)

    cdef int32_t create(self, ps_node *node, ps_worker **worker) noexcept:
        return ps_worker_create(node, worker)

    cdef ps_worker *inherited(self, ps_worker *used) except NULL:
        """In a forked child, return a worker of its own in place of the parent's, which stays as it is."""
        cdef ps_worker *fresh = NULL
        if self.worker != used:
            return self.worker
        if self.finalized:
            raise ClosedError("the worker is finalized")
        check(self.create(self.store.node, &fresh))
        ps_worker_free(self.parents)
        self.parents, self.worker = self.worker, fresh
        return fresh

    cdef int require_worker(self) except -1:
        if self.worker == NULL:
            raise ClosedError("the worker was not initialized")
        return 0

    cdef ps_worker *usable(self) except NULL:
        """Return the worker; in a forked child, one of its own."""
        cdef int64_t clock
        cdef ps_worker *worker = self.worker
        self.require_worker()
        if ps_current_clock(worker, &clock) == PS_EFORKED:
            worker = self.inherited(worker)
        return worker

    cdef object operate(self, int operation, object keys, object values, bint asynchronous, object timeout):
        """Run a pull, push or set; return what the public method returns."""
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef bint writes = operation == PS_PULL
        cdef ps_request request
        cdef Wait wait
        limit(&wait, timeout, True)
        if writes and asynchronous and can_move(values) and self.pull_local(keys, values):
            return ANSWERED
        self.require_worker()
        open_keys(keys, &k)
        try:
            self.borrow(values, writes, False, asynchronous, borrowed)
            describe(&request, operation, &k, &borrowed.span)
            request.flags = PS_ASYNC if asynchronous else 0
            self.carry_out(&request, &wait)
        finally:
            close_span(&k)
        if asynchronous and request.timestamp >= 0:
            return self.pending(request.timestamp, values, borrowed if writes else None)
        self.complete(values, writes, borrowed)
        return self.result(values, writes, asynchronous)

    cdef bint pull_local(self, object keys, object values) except -1:
        """Pull if every key lives on this node; return whether they do."""
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef ps_request request
        cdef int32_t code, local = 0
        self.require_worker()
        open_keys(keys, &k)
        try:
            self.borrow(values, True, False, False, borrowed)
            describe(&request, PS_PULL, &k, &borrowed.span)
            code = run_if_local(self.worker, &request, &local)
            if code == PS_EFORKED:
                code = run_if_local(self.inherited(self.worker), &request, &local)
            check(code)
        finally:
            close_span(&k)
        if local:
            self.complete(values, True, borrowed)
        return local

    cdef object result(self, object values, bint writes, bint asynchronous):
        """Return what the public method of an operation returns when the operation has ended."""
        if asynchronous:
            return ANSWERED
        if self.tells_timestamps:
            return self.last_timestamp()
        return values if writes else None

    cdef object pull_new(self, object keys, bint asynchronous, object timeout):
        """Pull into a new array or tensor; return that, or a timestamp with it as its values."""
        cdef int64_t length
        self.require_worker()
        length = self.store.info.value_length
        if not hasattr(keys, "shape"):
            keys = arrays.as_keys(keys)
        values = arrays.new_values(keys, self.store.dtype, length, 0 if length else self.store.total_length(keys))
        timestamp = self.operate(PS_PULL, keys, values, asynchronous, timeout)
        if not asynchronous:
            return values
        if timestamp is ANSWERED:
            timestamp = Timestamp(-1)
        timestamp.values = values
        return timestamp

    cdef int carry_out(self, ps_request *request, Wait *wait) except -1:
        """Run a request: to its end, or until it has a timestamp if it is asynchronous."""
        cdef ps_worker *worker = self.worker
        cdef int32_t code
        request.done = 0
        request.timeout = 0
        code = self.submit(worker, request, wait)
        if code == PS_EFORKED:
            worker = self.inherited(worker)
            code = self.submit(worker, request, wait)
        if code == PS_EBUSY:
            return self.persist(worker, request, wait)
        return check_wait(code, wait)

    cdef int persist(self, ps_worker *worker, ps_request *request, Wait *wait) except -1:
        """Go on with a request whose first call had to wait."""
        cdef int32_t code = PS_EBUSY
        while request.timestamp < 0 and prepare_call(wait, code):
            request.timeout = wait.left
            with nogil:
                code = ps_run(worker, request)
        if code == PS_EBUSY:
            return self.finish(worker, request.timestamp, wait)
        return check_wait(code, wait)

    cdef int finish(self, ps_worker *worker, int64_t timestamp, Wait *wait) except -1:
        """Wait for an operation that is not asynchronous; if that fails, abandon it, so that its buffer is free."""
        cdef int32_t code = PS_EBUSY
        wait.tells = True
        try:
            while prepare_call(wait, code):
                with nogil:
                    code = ps_wait(worker, timestamp, wait.left)
            return check_wait(code, wait)
        except BaseException:
            ps_abandon(worker, timestamp)
            raise

    cdef int borrow(self, object values, bint writes, bint keep, bint asynchronous, Borrowed borrowed) except -1:
        """Borrow the memory of values if it can be used as it is; else do what `borrow_other` does."""
        cdef bint moves = writes and asynchronous and can_move(values)
        if moves or not open_typed(values, writes, self.code, self.bits, &borrowed.span):
            return self.borrow_other(values, writes, keep, borrowed)
        return 0

    cdef int complete(self, object values, bint writes, Borrowed borrowed) except -1:
        """An operation has ended: bring what it wrote to the caller's array."""
        if borrowed.copy_back is not None:
            borrowed.copy_back()
        elif writes:
            note_written(values, &borrowed.span)
        return 0

    cdef int borrow_other(self, object values, bint writes, bint keep, Borrowed borrowed) except -1:
        """Borrow a converted copy of values. With `keep` an output is copied too, as not all of it will be written."""
        if writes:
            borrowed.owner, borrowed.copy_back = arrays.as_output(values, self.store.dtype, keep=keep)
        else:
            borrowed.owner = arrays.as_input(values, self.store.dtype)
        if not open_span(borrowed.owner, writes, &borrowed.span):
            raise AssertionError("pyps.arrays returned no plain buffer")
        return 0

    cdef object pending(self, int64_t timestamp, object values, Borrowed borrowed):
        """Return the timestamp of an operation on its way; memory that it will write is kept until it has ended."""
        if borrowed is not None:
            if borrowed.owner is None:
                borrowed.owner, borrowed.copy_back = tensors.held(values)
            self.borrowed[timestamp] = borrowed
        return Pending(timestamp, self)

    cdef int give_back(self, int64_t timestamp) except -1:
        """An operation on its way has ended: copy a pull's values to the caller's array, and release the memory."""
        cdef Borrowed borrowed = self.borrowed.pop(timestamp, None)
        if borrowed is not None and borrowed.copy_back is not None:
            borrowed.copy_back()
        return 0

    cdef int32_t submit(self, ps_worker *worker, ps_request *request, Wait *wait) except -1:
        """Make the first call for a request; it keeps the GIL if the request is short and need not wait."""
        cdef int32_t code = PS_EBUSY
        cdef double work = ns_per_key * request.num_keys + ns_per_byte * request.num_values * (self.bits // 8)
        if work < worth_releasing:
            request.flags |= PS_NOWAIT
            code = ps_run(worker, request)
        if code == PS_EBUSY:
            request.flags &= ~PS_NOWAIT
            prepare_call(wait, PS_EBUSY)
            request.timeout = wait.left
            with nogil:
                code = ps_run(worker, request)
        return code

    def pull(self, keys, values=None, asynchronous=False, *, out=None, timeout=None, **options):
        """Read the values of keys.

        Parameters
        ----------
        keys : array of int, shape (n,)
            In any order, also repeated; a numpy array, torch tensor or list. int64 is used without a copy.
        values, out : array of the server's dtype, writable, optional
            A buffer for the values; pass one of the two names, or ``vals`` as in Lapse and AdaPM. numpy or torch, on
            any device, of any shape and strides, with as many elements as the values of the keys have together. By
            default a new array is made: a torch tensor where `keys` is if that is one, or if the server has bfloat16,
            which numpy does not have; else a numpy array. It has the shape of `keys` with the value length as a further
            dimension; if values have different lengths it is flat, with one value after another.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.
        timeout : float, optional
            Seconds for everything that the call waits for; default 300. It waits until this node's server knows the
            worker, until earlier operations on the same keys or the same buffer have ended, until there is room beside
            what is on its way (`in_flight`), and, unless asynchronous, for the answers. Waiting for another worker of
            this node that holds a key ends after the server's `latch_timeout` instead.

        Returns
        -------
        array or Timestamp
            The values: `values`, or the new array. An asynchronous pull returns a timestamp, whose `wait` returns the
            new array.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was written.
        WaitTimeoutError
            It took longer than `timeout`. The message says what was waited for, and whether the pull was sent: if so,
            a part of `values` may be filled, but nothing writes to it any more.
        ClosedError, NodeLost
            The values cannot be reached.
        KeyboardInterrupt, or what a signal handler raises
            A signal came while this waited for other nodes. Nothing writes to `values` any more.
        """
        if options:
            values, asynchronous = arrays.read_options(options, values, asynchronous)
        if out is not None:
            if values is not None:
                raise TypeError("values and out are two names for the same buffer: pass one of them")
            values = out
        if values is None:
            return self.pull_new(keys, asynchronous, timeout)
        return self.operate(PS_PULL, keys, values, asynchronous, timeout)

    def push(self, keys, values=None, asynchronous=False, *, timeout=None, **options):
        """Add to the values of keys. Each key's addition is atomic; to a repeated key all of its values are added.

        If the server has an optimizer, `values` are gradients: the optimizer makes a step for each key, with the sum of
        the gradients of a repeated one.

        Parameters
        ----------
        keys : array of int, shape (n,)
        values : array of the server's dtype
            Any shape and strides, with as many elements as the values of the keys have together; also nested lists.
            May also be passed as ``vals``, as in Lapse and AdaPM.
        asynchronous : bool
            Return at once and end later; also as ``**{"async": True}``.
        timeout : float, optional
            Seconds for everything that the call waits for, as in `pull`; default 300.

        Returns
        -------
        Timestamp or None
            What to wait for, if the operation is asynchronous.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        WaitTimeoutError
            It took longer than `timeout`. The message says what was waited for, and whether the operation was sent. If
            it was, it may have been done, or may be done later. If not, nothing was done, unless the message says for
            how many keys it was.
        ClosedError, NodeLost
            The values cannot be reached.
        KeyboardInterrupt, or what a signal handler raises
            A signal came while this waited for other nodes. The operation may have been done, or may be done later.
        """
        if options:
            values, asynchronous = arrays.read_options(options, values, asynchronous)
        return self.operate(PS_PUSH, keys, values, asynchronous, timeout)

    def set(self, keys, values=None, asynchronous=False, *, timeout=None, **options):
        """Replace the values of keys; a repeated key keeps the last of its values.

        What the server's optimizer has kept for the keys is gone.

        Parameters, results and errors are those of `push`.
        """
        if options:
            values, asynchronous = arrays.read_options(options, values, asynchronous)
        return self.operate(PS_SET, keys, values, asynchronous, timeout)

    def staggered_push(self, keys, values=None, group=10000, asynchronous=False, **options):
        """Push many keys in groups, each when the one before has ended; for example to set up a large model.

        A plain push sends all of them at once: the messages take as much memory again as the keys and values, and the
        servers work on nothing else meanwhile. The limit `in_flight` delays what comes after a large push, but does not
        divide it; this method sends only one group at a time. For keys and values of less than a few megabytes `push`
        is faster, as it does not wait in between. An optimizer makes its steps for each group by itself.

        Parameters
        ----------
        keys : array of int, shape (n,)
        values : array of the server's dtype
            As in `push`.
        group : int
            How many keys are pushed at a time, at least 1.
        asynchronous : bool
            Return when the last group is on its way; also as ``**{"async": True}``.

        Returns
        -------
        Timestamp or None
            What to wait for, if it is asynchronous. When it has ended, so have all groups.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit; nothing was changed.
        ClosedError, WaitTimeoutError, NodeLost
            The values cannot be reached. The groups before have been added.
        KeyboardInterrupt, or what a signal handler raises
            A signal came while this waited for other nodes. The groups before have been added.
        """
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef ps_request request
        cdef int64_t most = whole(group, "group", INT64_MAX), left, total = 0
        cdef Wait wait
        self.require_worker()
        if options:
            values, asynchronous = arrays.read_options(options, values, asynchronous)
        if most < 1:
            raise ValueError(f"group is {most}; at least one key is pushed at a time")
        open_keys(keys, &k)
        try:
            if not open_typed(values, False, self.code, self.bits, &borrowed.span):
                self.borrow_other(values, False, False, borrowed)
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
                self.carry_out(&request, &wait)
                if not left:
                    break
                request.keys += request.num_keys
                request.values = <char *> request.values + request.num_values * (self.bits // 8)
        finally:
            close_span(&k)
        if asynchronous and request.timestamp >= 0:
            return self.pending(request.timestamp, values, None)
        return self.result(values, False, asynchronous)

    def pull_if_local(self, keys, values=None, **options):
        """Pull if every key lives on this node, else do nothing.

        Returns
        -------
        bool
            Whether the values were pulled.
        """
        if options:
            values, _ = arrays.read_options(options, values, False)
        return self.pull_local(keys, values)

    def last_timestamp(self):
        """Return the timestamp of this worker's last operation, even if the call has waited for it.

        Returns
        -------
        Timestamp
            -1 if the operation needed no other node. Intents and pushes in groups do not count.
        """
        cdef int64_t number = -1
        check(ps_last_timestamp(self.worker, &number))
        return ANSWERED if number < 0 else Pending(number, self)
