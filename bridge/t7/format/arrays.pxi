# Reading: the objects that a file refers to by index, and its tensors and storages, which become arrays.

cdef enum:
    S_TABLE = 3
    S_FUNCTION = 8
    S_OBJECT = 16
    S_TENSOR = 17
    S_STORAGE = 18

cdef enum:
    K_NONE, K_NUMBER, K_BOOLEAN, K_OTHER, K_STORED

cdef enum:
    POOLED_LEAST = 16 << 10
    POOL = 16 << 20
    LARGE_PAGE = 2 << 20

cdef struct Slot:
    PyObject *value           # NULL while scanning
    int64_t size              # of a storage
    int kind, element


@cython.internal
cdef class Arrays:
    cdef Source source
    cdef bint building
    cdef object torch                     # the module, for tensors of torch
    cdef list torch_dtypes
    cdef object mapped                    # a buffer of the whole file
    cdef object summary                   # if no data is read: functions that describe a tensor, a storage
    cdef Slot *slots
    cdef int64_t slot_count, slots_size
    cdef Map indices                      # the file's index -> slot
    cdef dict storage_values              # slot -> Storage
    cdef int kind                         # kind of the last value, while scanning
    cdef int64_t pooled                   # bytes of the medium-sized storages that are still to be read
    cdef object pool                      # memory for some of them
    cdef uint8_t *pool_data
    cdef int64_t pool_used, pool_size

    # Objects with an index. Where an index first appears in a file its object follows; later it stands alone.

    @cython.final
    cdef Slot *add_slot(self, int64_t index, int kind, value) except NULL:
        cdef Slot *slot
        cdef int64_t size
        if self.slot_count == self.slots_size:
            size = self.slots_size * 2 + 64
            slot = <Slot *>realloc(self.slots, size * sizeof(Slot))
            if slot == NULL:
                raise MemoryError()
            self.slots, self.slots_size = slot, size
        slot = &self.slots[self.slot_count]
        memset(slot, 0, sizeof(Slot))
        slot.kind = kind
        if self.building:
            Py_INCREF(value)
            slot.value = <PyObject *>value
        self.indices.put(index, self.slot_count)
        self.slot_count += 1
        return slot

    @cython.final
    cdef int64_t index(self) except -1:
        cdef int64_t offset = self.source.tell()
        cdef int64_t index = self.source.integer("an object's index")
        if index < 1:
            self.source.fail(f"an object has the index {index}; they count from 1", offset)
        return index

    @cython.final
    cdef object storage_value(self, int64_t place):
        if self.summary is not None:
            return <object>self.slots[place].value
        if place not in self.storage_values:
            self.storage_values[place] = Storage(<object>self.slots[place].value)
        return self.storage_values[place]

    @cython.final
    cdef bytes class_text(self):
        cdef int64_t length = self.source.length("the name of a class")
        if not 0 < length <= 1000:
            self.source.fail(f"the name of a class of {length} bytes")
        return self.source.raw(length)

    # Tensors.

    @cython.final
    cdef object tensor(self, int64_t index, int element):
        cdef int64_t[MAX_DIMENSIONS] sizes
        cdef int64_t[MAX_DIMENSIONS] strides
        cdef int64_t offset = 1
        cdef int64_t here = self.source.tell()
        cdef int64_t ndim = self.source.integer("a tensor's number of dimensions")
        cdef int64_t place
        cdef object target = None
        if not 0 <= ndim <= MAX_DIMENSIONS:
            self.source.fail(f"a tensor of {ndim} dimensions; up to {MAX_DIMENSIONS} can be read", here)
        self.source.longs(sizes, ndim, "a tensor's sizes")
        self.source.longs(strides, ndim, "a tensor's strides")
        self.source.longs(&offset, 1, "a tensor's offset")
        place = self.tensor_storage(element)
        self.check_tensor(here, ndim, sizes, strides, offset, place)
        if self.building:
            target = self.make_tensor(element, ndim, sizes, strides, offset - 1, place)
        self.add_slot(index, S_TENSOR, target)
        self.kind = K_OTHER
        return target

    @cython.final
    cdef int64_t tensor_storage(self, int element) except -2:
        """The slot of the storage that follows a tensor, or -1 for none."""
        cdef int64_t offset = self.source.tell()
        cdef int64_t kind = self.source.integer("a tensor's storage")
        cdef int64_t index, place
        cdef bytes name
        cdef tuple known
        if kind == T_NIL:
            return -1
        if kind != T_TORCH:
            self.source.fail(f"a tensor's storage is a value of type {kind}", offset)
        index = self.index()
        place = self.indices.get(index)
        if place < 0:
            name = self.class_text()
            if name[:2] == b"V ":
                name = self.class_text()
            known = CLASSES.get(name)
            if known is None or known[0] != C_STORAGE:
                self.source.fail(f"a tensor's storage is an object of the class {name[:40]!r}", offset)
            place = self.storage(index, known[1])
        if self.slots[place].kind != S_STORAGE or self.slots[place].element != element:
            self.source.fail(f"a {ELEMENT_NAMES[element]} tensor's storage is of another type", offset)
        return place

    @cython.final
    cdef int check_tensor(self, int64_t here, int64_t ndim, int64_t *sizes, int64_t *strides, int64_t offset,
                          int64_t place) except -1:
        """Check that every element lies in the storage."""
        cdef int64_t room = self.slots[place].size if place >= 0 else 0
        cdef int64_t left = room - offset
        cdef int64_t i
        cdef double elements = 1
        if offset < 1:
            self.source.fail(f"a tensor begins at the element {offset} of its storage; they count from 1", here)
        if ndim == 0:
            return 0
        for i in range(ndim):
            if sizes[i] < 1 or strides[i] < 0:
                self.source.fail(f"a tensor has the size {sizes[i]} with the stride {strides[i]}", here)
            elements *= sizes[i]
            if elements > 1e18:
                self.source.fail("a tensor of more elements than can be counted", here)
            if sizes[i] > 1 and strides[i] > 0:
                if left < 0 or sizes[i] - 1 > left // strides[i]:
                    left = -1
                else:
                    left -= (sizes[i] - 1) * strides[i]
        if left < 0:
            self.source.fail(
                f"a tensor of the sizes {[sizes[i] for i in range(ndim)]} with the strides "
                f"{[strides[i] for i in range(ndim)]} from element {offset} on, but its storage has {room} elements",
                here,
            )
        return 0

    @cython.final
    cdef object make_tensor(self, int element, int64_t ndim, int64_t *sizes, int64_t *strides, int64_t offset,
                            int64_t place):
        cdef int64_t i
        cdef int itemsize = ELEMENT_SIZE[element]
        cdef tuple shape
        cdef object base
        if self.summary is not None:
            return self.summary[0](
                TENSOR_NAMES[element].decode(),
                tuple([sizes[i] for i in range(ndim)]),
                tuple([strides[i] for i in range(ndim)]),
                offset,
                <object>self.slots[place].value if place >= 0 else None,
            )
        base = <object>self.slots[place].value if place >= 0 else None
        if ndim == 0:
            sizes[0], strides[0], ndim = 0, 1, 1
            offset = min(offset, self.slots[place].size) if place >= 0 else 0
        shape = tuple([sizes[i] for i in range(ndim)])
        if self.torch is not None:
            tensor = self.torch.empty(0, dtype=self.torch_dtypes[element])
            if base is None:
                return tensor
            return tensor.set_(base.untyped_storage(), offset, shape, tuple([strides[i] for i in range(ndim)]))
        if base is None:
            return numpy.empty(shape, DTYPES[element])
        return ndarray(
            shape, DTYPES[element], base, offset * itemsize, tuple([strides[i] * itemsize for i in range(ndim)])
        )

    @cython.final
    cdef int64_t storage(self, int64_t index, int element) except -1:
        """Read a storage; returns its slot."""
        cdef int64_t here = self.source.tell()
        cdef int64_t count = 0
        cdef object array = None
        cdef Slot *slot
        self.source.longs(&count, 1, "a storage's size")
        if count < 0 or count > self.source.left() or self.source.least_bytes(element, count) > self.source.left():
            self.source.fail(
                f"a {ELEMENT_NAMES[element]} storage of {count} elements, but {self.source.left()} bytes are left "
                "in the file", here
            )
        if self.building and self.summary is None:
            array = self.read_storage(element, count)
        else:
            if self.building:
                array = self.summary[1](STORAGE_NAMES[element].decode(), count, self.source.tell())
            self.source.skip_elements(element, count)
            if POOLED_LEAST <= count * ELEMENT_SIZE[element] < HUGE:
                self.pooled += (count * ELEMENT_SIZE[element] + 63) & ~<int64_t>63
        slot = self.add_slot(index, S_STORAGE, array)
        slot.size = count
        slot.element = element
        return self.slot_count - 1

    @cython.final
    cdef object read_storage(self, int element, int64_t count):
        cdef Py_buffer view
        cdef int64_t here = self.source.tell()
        cdef int size = ELEMENT_SIZE[element]
        if self.mapped is not None and count and here % size == 0 and self.source.native and (
            element != E_LONG or self.source.long_size == 8
        ):
            self.source.skip(count * size)
            if self.torch is not None:
                return self.torch.frombuffer(
                    self.mapped, dtype=self.torch_dtypes[element], count=count, offset=here
                )
            return numpy.frombuffer(self.mapped, DTYPES[element], count, here)
        if POOLED_LEAST <= count * size < HUGE and self.pooled + self.pool_size >= HUGE:
            return self.read_pooled(element, count)
        if self.torch is not None:
            tensor = self.torch.empty(count, dtype=self.torch_dtypes[element])
            self.source.elements(element, <uint8_t *><uintptr_t>tensor.data_ptr(), count)
            return tensor
        array = empty(count, DTYPES[element])
        PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
        try:
            self.source.elements(element, <uint8_t *>view.buf, count)
        finally:
            PyBuffer_Release(&view)
        return array

    @cython.final
    cdef object read_pooled(self, int element, int64_t count):
        """Read into a pool shared with the next storages: large pages save most of its page faults, one per 4 KB."""
        cdef int64_t size = (count * ELEMENT_SIZE[element] + 63) & ~<int64_t>63
        cdef int64_t place
        if self.pool_used + size > self.pool_size:
            self.new_pool(max(size, min(self.pooled, <int64_t>POOL)))
        place = self.pool_used
        self.pool_used += size
        self.pooled -= size
        self.source.elements(element, self.pool_data + place, count)
        if self.torch is not None:
            return self.torch.frombuffer(self.pool, dtype=self.torch_dtypes[element], count=count, offset=place)
        return numpy.frombuffer(self.pool, DTYPES[element], count, place)

    @cython.final
    cdef int new_pool(self, int64_t size) except -1:
        """Make a pool of `size` bytes that begins at a large page's boundary."""
        cdef Py_buffer view
        cdef int64_t before
        array = empty(size + LARGE_PAGE, DTYPES[E_BYTE])
        PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
        self.pool_data = <uint8_t *>view.buf
        PyBuffer_Release(&view)
        before = -<int64_t><uintptr_t>self.pool_data & (LARGE_PAGE - 1)
        self.pool = memoryview(array)[before : before + size]
        self.pool_data += before
        self.pool_size, self.pool_used = size, 0
        large_pages(self.pool_data, size)
        return 0


cdef object ndarray = numpy.ndarray
cdef object empty = numpy.empty
