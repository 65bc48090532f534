# Access to the memory of numpy arrays, torch tensors and other buffers that hold keys or values.

from libc.stdint cimport int64_t

cdef enum:
    CPU = 1          # DLPack's numbers
    INTEGER = 0
    UNSIGNED = 1
    FLOAT = 2
    BFLOAT = 4
    BOOLEAN = 6
    UNKNOWN = -1

# The memory of an array. If `exported`, `buffer` keeps its owner alive; a tensor is kept alive by the caller.
cdef struct Span:
    Py_buffer buffer
    bint exported
    void *data
    int64_t elements
    int code
    int bits

cdef bint open_span(object value, bint writable, Span *span) except -1
cdef bint open_typed(object value, bint writable, int code, int bits, Span *span) except -1
cdef int open_keys(object keys, Span *span) except -1
cdef void close_span(Span *span) noexcept
cdef bint can_move(object value) except -1
cdef int note_written(object value, const Span *span) except -1
