# A worker's sampled access.
cdef class SamplingWorker(Worker):
    """A worker that draws samples of keys too."""

    def prepare_sample(self, n, start, end=0, *, timeout=None):
        """Draw a sample of keys and get ready for pulling it, as the server's scheme has it.

        Parameters
        ----------
        n : int
            How many keys; without replacement they are all distinct.
        start, end : int
            The sample will be pulled in clocks [start, end); an `end` of 0 means ``start + 1``.
        timeout : float, optional
            Seconds for which the call may wait, as `intent` does; 300 unless said.

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
        cdef int64_t begin = whole(start, "start", INT64_MAX), finish = whole(end, "end", INT64_MAX)
        cdef ps_worker *worker = self.usable()
        limit(&wait, timeout, False)
        while goes_on(&wait, code):
            with nogil:
                code = ps_prepare_sample(worker, count, begin, finish, &id)
        check(code)
        return id

    def pull_sample(self, id, keys, vals, asynchronous=False, *, timeout=None, **options):
        """Pull the next keys of a prepared sample, as many as `keys` has room for.

        Parameters
        ----------
        id : int
            Of the sample. It may be pulled in several parts; when all of it has been, it is finished.
        keys : array of int64, shape (n,), writable
            Gets the keys. numpy or torch, any strides. They are there when the call returns, asynchronous or not.
        vals : array of the server's dtype, writable
            Gets the keys' values, one after another, from its first element on. Any shape and strides; at least as
            many elements as the values have. numpy or torch, on the CPU.
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
            An argument does not fit, `vals` has too little room, or the sample has fewer keys left; nothing was taken
            of it.
        WaitTimeoutError
            It took longer than `timeout`. If the message says that the pull was sent, the keys count as pulled, and
            nothing writes to `vals` any more; otherwise nothing was taken of the sample.
        """
        cdef Span k
        cdef Borrowed borrowed = Borrowed()
        cdef ps_worker *worker
        cdef int64_t number = whole(id, "id", INT64_MAX), timestamp = -1
        cdef int32_t flags, code = PS_EBUSY
        cdef Wait wait
        limit(&wait, timeout, False)
        if options:
            asynchronous = arrays.check_options(options)
        flags = PS_ASYNC if asynchronous else 0
        fill_keys = None
        if not open_typed(keys, True, INTEGER, 64, &k):
            converted, fill_keys = arrays.as_key_output(keys)
            open_typed(converted, True, INTEGER, 64, &k)
        try:
            self.borrow(vals, True, True, asynchronous, borrowed)
            worker = self.usable()
            if ns_per_key * k.elements < worth_releasing:
                code = ps_pull_sample(worker, number, <int64_t *> k.data, k.elements, borrowed.span.data,
                                      borrowed.span.elements, flags | PS_NOWAIT, &timestamp)
            while timestamp < 0 and goes_on(&wait, code):
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
            return self.pending(timestamp, vals, borrowed)
        self.complete(vals, True, borrowed)
        return self.result(None, False, asynchronous)

    def finish_sample(self, id):
        """Forget a sample of which no more will be pulled. One that is finished already may be named again.

        Raises
        ------
        ValueError
            This worker never prepared such a sample.
        """
        check(ps_finish_sample(self.usable(), whole(id, "id", INT64_MAX)))
