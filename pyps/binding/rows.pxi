# The class RowWorker: whole rows, beside the training.
cdef class RowWorker(Worker):
    """A worker that reads and writes whole rows; barriers do not wait for it.

    A row is a key's value and, from the next multiple of 8 bytes on, what the optimizer keeps for it.

    Parameters
    ----------
    store : Node
    """

    cdef int32_t create(self, ps_node *node, ps_worker **worker) noexcept:
        return ps_worker_create_aside(node, worker)

    def read_rows(self, keys, rows=None):
        """Copy the rows of the keys that live on this node, each as a whole; return which do.

        Parameters
        ----------
        keys : contiguous int64 buffer, shape (n,)
        rows : contiguous uint8 buffer, optional
            The rows of all keys one after another; those of keys that live elsewhere stay as they are.

        Returns
        -------
        bytearray of n bytes
            1 for a key that lives here, else 0.

        Raises
        ------
        ValueError
            There is no such key, or `rows` has another size.
        """
        return self.visit(ps_read_rows, keys, rows, True)

    def write_rows(self, keys, rows):
        """Replace the rows of the keys that live on this node; parameters, result and errors are those of `read_rows`.

        Replicas get the new values.
        """
        return self.visit(<RowCall> ps_write_rows, keys, rows, False)

    cdef object visit(self, RowCall call, object keys, object rows, bint writes):
        cdef Span k, r
        cdef int32_t code
        cdef bytearray here
        cdef uint8_t *flags
        cdef ps_worker *worker = self.usable()
        memset(&r, 0, sizeof(r))
        open_keys(keys, &k)
        try:
            if rows is not None:
                open_plain(rows, writes, UNSIGNED, 8, &r)
            here = bytearray(k.elements)
            flags = here
            with nogil:
                code = call(worker, <const int64_t *> k.data, k.elements, r.data, r.elements, flags)
        finally:
            close_span(&k)
            close_span(&r)
        check(code)
        return here
