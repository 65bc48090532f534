"""The loops of rows.h, on addresses of memory that the caller has checked and keeps alive."""

from libc.stdint cimport int64_t, uintptr_t

cdef extern from "rows.h" namespace "wm" nogil:
    cdef cppclass Matrix:
        char *first
        int64_t stride
        int64_t row_bytes
    cdef cppclass Indices:
        const void *first
        int64_t count
        bint wide
    cdef enum class Element:
        float32
        float64
        int32
        int64
    int64_t wm_first_outside "wm::first_outside"(Indices, int64_t rows, int threads)
    void wm_gather "wm::gather"(Matrix, Indices, char *out, int threads)
    void wm_scatter "wm::scatter"(Matrix, Indices, const char *rows, int threads)
    void wm_scatter_add "wm::scatter_add"(Matrix, Indices, const char *rows, Element, int threads)

ELEMENTS = ("float32", "float64", "int32", "int64")  # the types that scatter_add can add, in the order of rows.h


cdef Matrix matrix_at(tuple place) except *:
    cdef Matrix matrix
    cdef uintptr_t first = place[0]
    matrix.first = <char *> first
    matrix.stride = place[1]
    matrix.row_bytes = place[2]
    return matrix


cdef Indices indices_at(tuple place) except *:
    cdef Indices indices
    cdef uintptr_t first = place[0]
    indices.first = <const void *> first
    indices.count = place[1]
    indices.wide = place[2]
    return indices


def first_outside(tuple indices not None, int64_t rows, int threads):
    """Return the position of the first index that is not in [0, rows), or -1."""
    cdef Indices found = indices_at(indices)
    cdef int64_t position
    with nogil:
        position = wm_first_outside(found, rows, threads)
    return position


def gather(tuple matrix not None, tuple indices not None, uintptr_t out, int threads):
    """Copy rows (first, stride, bytes of a row) by indices (first, count, 64 bits or not) to `out`."""
    cdef Matrix source = matrix_at(matrix)
    cdef Indices found = indices_at(indices)
    with nogil:
        wm_gather(source, found, <char *> out, threads)


def scatter(tuple matrix not None, tuple indices not None, uintptr_t rows, int threads):
    """Copy rows from `rows` to the places that the indices name."""
    cdef Matrix target = matrix_at(matrix)
    cdef Indices found = indices_at(indices)
    with nogil:
        wm_scatter(target, found, <const char *> rows, threads)


def scatter_add(tuple matrix not None, tuple indices not None, uintptr_t rows, int element, int threads):
    """Add rows to the places that the indices name; `element` is the position of the type in ELEMENTS."""
    cdef Matrix target = matrix_at(matrix)
    cdef Indices found = indices_at(indices)
    with nogil:
        wm_scatter_add(target, found, <const char *> rows, <Element> element, threads)
