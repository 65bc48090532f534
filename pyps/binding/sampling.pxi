# The class SamplingWorker: samples of keys.
cdef class SamplingWorker(Worker):
    """A worker that can also draw samples of keys."""

    def prepare_sample(self, n, start, end=0, *, timeout=None):
        """Draw a sample of keys, and do what the server's scheme does so that it can be pulled.

        Parameters
        ----------
        n : int
            How many keys; they are all distinct if sampling is without replacement.
        start, end : int
            The sample will be pulled in clocks [start, end); an `end` of 0 means ``start + 1``.
        timeout : float, optional
            Seconds that the call may wait, as `intent` does; default 300.

        Returns
        -------
        int
            The sample's number, for `pull_sample`.

        Raises
        ------
        RuntimeError
            Sampling is not enabled on this node.
        ValueError
            `n` is below 1 or above what can be drawn, or the clocks are no interval.
        WaitTimeoutError
            The server did not take the worker's earlier intents in time; nothing was drawn.
        """
        cdef int32_t code = PS_EBUSY
        cdef int64_t id = 0
        cdef Wait wait
        cdef int64_t count = whole(n, "n", INT64_MAX)
        cdef int64_t first = whole(start, "start", INT64_MAX), stop = whole(end, "end", INT64_MAX)
        cdef ps_worker *worker = self.usable()
        limit(&wait, timeout, False)
        while prepare_call(&wait, code):
            with nogil:
                code = ps_prepare_sample(worker, count, first, stop, &id)
        check(code)
        return id

    def pull_sample(self, id, keys, values=None, asynchronous=False, *, timeout=None, **options):
        """Pull the next keys of a prepared sample, as many as `keys` has room for.

        Parameters
        ----------
        id : int
            The sample's number. It may be pulled in several parts; it is finished when all of it has been pulled.
        keys : array of int64, shape (n,), writable
            A buffer for the keys; numpy or torch, any strides. It is filled when the call returns, also if the call
            is asynchronous.
        values : array of the server's dtype, writable
            A buffer for the keys' values, which are written one after another from its first element on. numpy or
            torch, on any device; any shape and strides, with at least as many elements as the values have. May also be
            passed as ``vals``, as in AdaPM.
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
            An argument does not fit, `values` is too small, or the sample has fewer keys left. No keys were taken from
            the sample.
        WaitTimeoutError
            It took longer than `timeout`. If the message says that the pull was sent, the keys count as pulled, and
            nothing writes to `values` any more; otherwise no keys were taken from the sample.
        """
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef ps_worker *worker
        cdef int64_t number = whole(id, "id", INT64_MAX), timestamp = -1
        cdef int32_t flags, code = PS_EBUSY
        cdef Wait wait
        limit(&wait, timeout, False)
        if options:
            values, asynchronous = arrays.read_options(options, values, asynchronous)
        flags = PS_ASYNC if asynchronous else 0
        fill_keys = None
        if not open_typed(keys, True, INTEGER, 64, &k):
            converted, fill_keys = arrays.as_key_output(keys)
            open_typed(converted, True, INTEGER, 64, &k)
        try:
            self.borrow(values, True, True, asynchronous, borrowed)
            worker = self.usable()
            if ns_per_key * k.elements < worth_releasing:
                code = ps_pull_sample(worker, number, <int64_t *> k.data, k.elements, borrowed.span.data,
                                      borrowed.span.elements, flags | PS_NOWAIT, &timestamp)
            while timestamp < 0 and prepare_call(&wait, code):
                with nogil:
                    code = ps_pull_sample(worker, number, <int64_t *> k.data, k.elements, borrowed.span.data,
                                          borrowed.span.elements, flags, &timestamp)
            if code == PS_EBUSY:
                self.finish(worker, timestamp, &wait)
                timestamp = -1
            else:
                check(code)
            if fill_keys is None:
                note_written(keys, &k)
        finally:
            close_span(&k)
        if fill_keys is not None:
            fill_keys()
        if timestamp >= 0:
            return self.pending(timestamp, values, borrowed)
        self.complete(values, True, borrowed)
        return self.result(None, False, asynchronous)

    def finish_sample(self, id):
        """End a sample before all of it was pulled. It may be finished already.

        Raises
        ------
        ValueError
            This worker never prepared such a sample.
        """
        check(ps_finish_sample(self.usable(), whole(id, "id", INT64_MAX)))
