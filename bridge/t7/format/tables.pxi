# Reading tables: whether one becomes a list or a dict, its keys, its entries.

cdef enum:
    AS_DICT = 0
    AS_LIST = 1               # keys are 1, 2, 3 ... in this order
    AS_SHUFFLED = 2           # keys are 1 .. n in another order
    MARKED_KEYS = 4           # has both booleans and 0 or 1 as keys, which are equal in Python


@cython.internal
cdef class Tables(Frames):
    cdef bint opened                      # the value read last is incomplete: its own values follow
    cdef bint always_dict
    cdef uint8_t *shapes                  # an AS_... for each table, in the order of the file
    cdef int64_t shape_count, shapes_size, shapes_known
    cdef double scanned                   # the last number, while scanning

    @cython.final
    cdef object table(self, int64_t index, bint fields):
        """Read a table's beginning. Its index is entered before its entries are read, since these may refer to it."""
        cdef int64_t offset = self.source.tell()
        cdef int64_t count = self.source.integer("a table's size")
        cdef object target
        if not 0 <= count <= self.most_entries():
            self.source.fail(
                f"a table of {count} entries, but {self.source.left()} bytes are left in the file", offset
            )
        target = self.new_table(index, count, fields)
        self.opened = count > 0
        if self.opened:
            self.push(F_TABLE, count, target).place = self.shape_count - 1
        self.kind = K_OTHER
        return None if self.opened else target

    @cython.final
    cdef inline int64_t most_entries(self) noexcept:
        """The most entries a table can have in the bytes that are left: each has at least a number and a nil."""
        return self.source.left() // (4 if self.source.ascii else 12)

    @cython.final
    cdef object new_table(self, int64_t index, int64_t count, bint fields):
        """Make the list or dict of a table; None while scanning."""
        cdef int shape = AS_DICT
        cdef object target = None
        if self.shape_count == self.shapes_size:
            self.grow_shapes()
        if not self.building:
            self.shapes[self.shape_count] = AS_DICT
        else:
            if self.shape_count >= self.shapes_known:
                self.source.fail("the file changed while it was read")
            shape = self.shapes[self.shape_count]
            if fields:
                shape &= MARKED_KEYS
                self.shapes[self.shape_count] = shape
            if shape & (AS_LIST | AS_SHUFFLED) or (count == 0 and not fields and not self.always_dict):
                target = [None] * count
            else:
                target = {}
        self.shape_count += 1
        self.add_slot(index, S_TABLE, target)
        return target

    @cython.final
    cdef int grow_shapes(self) except -1:
        cdef int64_t size = self.shapes_size * 2 + 256
        cdef uint8_t *shapes = <uint8_t *>realloc(self.shapes, size)
        if shapes == NULL:
            raise MemoryError()
        self.shapes, self.shapes_size = shapes, size
        return 0

    @cython.final
    cdef object finished(self):
        """Pop the top frame and return the value it has filled."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        if not self.building:
            self.kind = K_OTHER
            if frame.kind == F_TABLE:
                self.note_shape(frame)
        return self.popped()

    @cython.final
    cdef int check_key(self, Frame *frame, value) except -1:
        """Take a key; its value comes next."""
        if not self.building:
            frame.key_kind = self.kind
            return self.note_key(frame, self.kind, self.scanned)
        frame.key_kind = K_OTHER
        if type(value) is not str and type(value) is not int:
            value = self.odd_key(frame, value)
        Py_INCREF(value)
        frame.key = <PyObject *>value
        return 0

    @cython.final
    cdef int note_key(self, Frame *frame, int kind, double number) except -1:
        """Note, while scanning, whether the keys so far are those of a list."""
        cdef int64_t whole
        if kind == K_NUMBER:
            if isnan(number):
                self.source.fail("a table has nan as a key")
            frame.binary |= number == 0 or number == 1
            if not 1 <= number <= frame.count:
                frame.whole = False
                return 0
            whole = <int64_t>number
            if whole == frame.done + 1 and <double>whole == number:
                if not frame.ordered:
                    frame.found += mix(whole)
                    frame.expected += mix(whole)
                return 0
            frame.ordered = False
            frame.whole &= <double>whole == number
            frame.found += mix(whole)
            frame.expected += mix(frame.done + 1)
        elif kind == K_NONE:
            self.source.fail("a table has nil as a key")
        else:
            frame.booleans |= kind == K_BOOLEAN
            frame.whole = False
        return 0

    @cython.final
    cdef object odd_key(self, Frame *frame, value):
        """A key that is neither a string nor a whole number."""
        if value is None:
            self.source.fail("a table has nil as a key")
        if type(value) is bool:
            return Key(value) if frame.kind == F_HASH or self.shapes[frame.place] & MARKED_KEYS else value
        if type(value) is float and isnan(<double>value):
            self.source.fail("a table has nan as a key")
        return value if isinstance(value, (float, bytes, TorchObject, TorchFunction)) else Key(value)

    @cython.final
    cdef int note_shape(self, Frame *frame) except -1:
        cdef int shape = AS_DICT
        if frame.whole and not self.always_dict and frame.count > 0:
            if frame.ordered:
                shape = AS_LIST
            elif frame.found == frame.expected:
                shape = AS_SHUFFLED
        if frame.booleans and frame.binary:
            shape |= MARKED_KEYS
        self.shapes[frame.place] = shape
        return 0

    @cython.final
    cdef int store(self, Frame *frame, value) except -1:
        cdef object key = <object>frame.key
        cdef object target = <object>frame.target
        frame.key = NULL
        Py_DECREF(key)      # the variable `key` has a reference of its own
        if frame.kind == F_HASH:
            target.torch_payload()[key] = value
        else:
            self.enter(target, key, value)
        return 0

    @cython.final
    cdef inline int enter(self, target, key, value) except -1:
        """Put a value in a dict, or in a list that has its length already."""
        if type(target) is dict:
            PyDict_SetItem(target, key, value)
        elif type(key) is int and 1 <= key <= PyList_GET_SIZE(target):
            (<list>target)[key - 1] = value
        else:
            self.source.fail("the file changed while it was read")
        return 0
