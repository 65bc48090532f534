# The class Existence: which keys exist.
cdef class Existence(Operations):
    """A worker's operations on the rows of keys, which exist from a key's first use on; `Worker` adds what is left."""

    cdef object ask_about_rows(self, AskAboutRows call, object keys, object timeout):
        """Make such a call and wait for its end; return a byte per key."""
        cdef Span k
        cdef int32_t code = PS_EBUSY
        cdef ps_worker *worker
        cdef int64_t timestamp = -1
        cdef Wait wait
        cdef bytearray answers
        cdef uint8_t *flags
        limit(&wait, timeout, False)
        open_keys(keys, &k)
        try:
            worker = self.usable()
            answers = bytearray(k.elements)
            flags = answers
            while prepare_call(&wait, code):
                with nogil:
                    code = call(worker, <const int64_t *> k.data, k.elements, flags, &timestamp)
            check(code)
        finally:
            close_span(&k)
        if timestamp >= 0:
            wait.is_begun = True
            self.finish(worker, timestamp, &wait)
        return answers

    def contains(self, keys, *, timeout=None):
        """Return which keys have a row, on any node. It makes none.

        Parameters
        ----------
        keys : array of int, shape (n,)
        timeout : float, optional
            Seconds for everything that the call waits for, as in `pull`; default 300.

        Returns
        -------
        bool array, shape (n,)
            A torch tensor, where `keys` is, if that is one. Keys of a range always have rows.

        Raises
        ------
        ValueError
            There is no such key.
        WaitTimeoutError, NodeLost
            The keys' homes did not answer.
        """
        return arrays.as_flags(keys, self.ask_about_rows(ps_contains, keys, timeout))

    def delete(self, keys, *, timeout=None):
        """Forget keys: their values, and what the optimizer keeps for them, on all nodes.

        Their memory is used again. The next use of a key makes it anew, with its first value; an intent that still has
        the key counts as such a use. What was acknowledged before this call is gone with the key, what begins after
        it has returned is not.

        Parameters
        ----------
        keys : array of int, shape (n,)
            Those that do not exist stay so.
        timeout : float, optional
            Seconds for everything that the call waits for, as in `pull`; default 300.

        Returns
        -------
        int
            How many keys existed and are gone.

        Raises
        ------
        ValueError
            There is no such key, or the keys are a range, whose rows stay; nothing was deleted.
        WaitTimeoutError
            It took longer. If the message says that it was sent, the keys may be gone, or may still go.
        NodeLost
            Some keys were lost with a node, or began on one and so could not be made anew. The others may be gone.
        """
        return sum(self.ask_about_rows(ps_delete, keys, timeout))

    def find_keys(self, keys, next, begun=False):  # noqa: A002
        """Fill `keys`, an int64 buffer, with the next keys of this node.

        Parameters
        ----------
        keys : contiguous int64 buffer
        next : int
            0 at first, then what the last call returned.
        begun : bool
            The keys that exist and began here, wherever they live now; otherwise those that live here.

        Returns
        -------
        count, next : int
            How many keys there are in `keys`; fewer than it has room for if they are the last ones. A key that is there
            all the time is found exactly once.
        """
        cdef Span span
        cdef int64_t at = whole(next, "next", INT64_MAX), count = 0
        cdef int32_t code, which = PS_KEYS_BEGUN if begun else PS_KEYS_HERE
        cdef ps_worker *worker = self.usable()
        open_plain(keys, True, INTEGER, 64, &span)
        with nogil:
            code = ps_find_keys(worker, which, &at, <int64_t *> span.data, span.elements, &count)
        close_span(&span)
        check(code)
        return count, at
