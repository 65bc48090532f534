# The stack of values that are being read: a frame for each that is not complete yet.

cdef enum:
    F_ROOT, F_TABLE, F_PAYLOAD, F_PARTS, F_UPVALUES, F_VEC, F_HASH

cdef struct Frame:
    int kind
    int64_t count             # entries or values that it has by the file
    int64_t done              # how many of them are complete
    PyObject *target          # the object that is being filled
    PyObject *key             # the key whose value comes next
    int key_kind              # K_NONE: a key comes next; K_STORED: the value is stored already
    int64_t place             # the table's number in `shapes`
    bint ordered, whole, booleans, binary      # of the keys: 1, 2, 3 ..; within 1 .. n; bools; 0 or 1
    uint64_t found, expected  # sums of hashes of the keys, and of 1 .. n: equal if the sets are


@cython.internal
cdef class Frames(Arrays):
    cdef Frame *frames
    cdef int64_t depth, frames_size

    @cython.final
    cdef Frame *push(self, int kind, int64_t count, target) except NULL:
        cdef Frame *frame
        cdef int64_t size
        if self.depth == self.frames_size:
            size = self.frames_size * 2 + 64
            frame = <Frame *>realloc(self.frames, size * sizeof(Frame))
            if frame == NULL:
                raise MemoryError()
            self.frames, self.frames_size = frame, size
        frame = &self.frames[self.depth]
        memset(frame, 0, sizeof(Frame))
        frame.kind = kind
        frame.count = count
        frame.ordered = frame.whole = True
        if target is not None:
            Py_INCREF(target)
            frame.target = <PyObject *>target
        self.depth += 1
        return frame

    @cython.final
    cdef object popped(self):
        """Pop the top frame and return the object it has filled."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef object target = None
        if frame.target != NULL:
            target = <object>frame.target
            Py_DECREF(target)
        self.depth -= 1
        return target

    @cython.final
    cdef void forget(self) noexcept:
        """Drop all references of the last walk."""
        while self.depth:
            self.depth -= 1
            Py_XDECREF(self.frames[self.depth].target)
            Py_XDECREF(self.frames[self.depth].key)
        while self.slot_count:
            self.slot_count -= 1
            Py_XDECREF(self.slots[self.slot_count].value)
