# What an operation passes to the core: the caller's memory, and a ps_request.
cdef class Borrowed:
    """Memory of values: its owner, and a function that copies it to the caller's array if it is not that array's."""

    def __dealloc__(self):
        close_span(&self.span)


cdef int open_plain(object value, bint writable, int code, int bits, Span *span) except -1:
    """Borrow a buffer of this type, which must be contiguous."""
    if not open_typed(value, writable, code, bits, span):
        raise TypeError(f"expected a contiguous {'writable ' if writable else ''}buffer of {bits} bits for each "
                        f"element, not {type(value).__name__}")
    return 0


cdef void describe(ps_request *request, int operation, const Span *keys, const Span *values) noexcept:
    """Fill in a request that has not begun."""
    memset(request, 0, sizeof(ps_request))
    request.operation = operation
    request.keys = <const int64_t *> keys.data
    request.num_keys = keys.elements
    request.values = values.data
    request.num_values = values.elements


cdef int32_t run_if_local(ps_worker *worker, ps_request *request, int32_t *local) noexcept:
    with nogil:
        return ps_pull_if_local(worker, request.keys, request.num_keys, request.values, request.num_values, local)
