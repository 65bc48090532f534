# Where an array's elements are in memory, and which memory it shares with other arrays.

cdef struct Region:
    const uint8_t *data
    int64_t count             # elements
    uint64_t name             # identifies the storage: a hash of its address, size and type


cdef struct Geometry:
    const uint8_t *data
    int64_t ndim                          # 0 if there are no elements, as in Torch7
    int64_t[MAX_DIMENSIONS] sizes
    int64_t[MAX_DIMENSIONS] strides       # elements
    int64_t extent                        # elements from the first to the last in memory, both included


cdef bint geometry(array, Geometry *shape) except -1:
    """Find where an array's elements are. False: it has strides that a Torch7 tensor cannot have."""
    cdef Py_buffer view
    cdef int64_t i
    PyObject_GetBuffer(array, &view, PyBUF_STRIDED_RO)
    try:
        shape.data = <const uint8_t *>view.buf
        shape.ndim = view.ndim if view.len else 0
        shape.extent = 1 if view.len else 0
        for i in range(shape.ndim):
            shape.sizes[i] = view.shape[i]
            shape.strides[i] = view.strides[i] // view.itemsize
            if view.strides[i] < 0 or view.strides[i] % view.itemsize:
                if view.shape[i] > 1:
                    return False
                shape.strides[i] = 1
            shape.extent += (shape.sizes[i] - 1) * shape.strides[i]
        return True
    finally:
        PyBuffer_Release(&view)


cdef Region region_of(root, int element):
    """The memory of an array that owns it, as elements: from the first to the last in memory, with any gaps."""
    cdef Geometry shape
    cdef Region region
    cdef uint64_t name
    region.data = NULL
    region.count = 0
    if geometry(root, &shape):
        region.data = shape.data
        region.count = shape.extent * <int64_t>root.itemsize // ELEMENT_SIZE[element]
    name = <uintptr_t>region.data if region.count else <uintptr_t><PyObject *>root + 1
    region.name = mix(mix(name + 1) ^ <uint64_t>region.count) + <uint64_t>element + 1
    return region


cdef int64_t place_in(Region region, Geometry *shape, int size) noexcept:
    """The element of a region at which an array begins, or -1 if the array is not within the region."""
    cdef int64_t distance = shape.data - region.data
    if distance < 0 or distance % size or distance // size + shape.extent > region.count:
        return -1
    return distance // size
