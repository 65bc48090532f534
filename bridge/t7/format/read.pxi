# Reading a value. The same walk is done twice: once to scan the file without making values, once to build them.


@cython.final
@cython.internal
cdef class Reader(Objects):
    def __cinit__(self, Source source, *, bint always_dict, dict layouts, torch, mapped, summary):
        self.source = source
        self.always_dict = always_dict
        self.layouts = layouts
        self.torch = torch
        self.torch_dtypes = [getattr(torch, name) for name in DTYPE_NAMES] if torch is not None else []
        self.mapped = mapped
        self.summary = summary

    def __dealloc__(self):
        self.forget()
        for i in range(CACHED_STRINGS):
            Py_XDECREF(self.strings[i])
        free(self.frames)
        free(self.slots)
        free(self.shapes)

    cdef object walk(self, bint building):
        """Read one value from the file's beginning."""
        self.forget()
        self.building = building
        self.indices = Map()
        self.storage_values = {}
        self.parts_stack = []
        self.stranger = None
        self.source.first_long = 0
        if building:
            self.shapes_known = self.shape_count
        else:
            self.pooled = 0
        self.pool_used = self.pool_size = 0
        self.shape_count = 0
        self.source.seek(0)
        try:
            return self.run()
        except T7Error as error:
            if self.stranger is None:
                raise
            hint = (
                f"{error} (before this came an object of the class {self.stranger}: if it writes more than a table of "
                f"its fields, pass its layout, such as layouts={{{self.stranger!r}: ('object', 'int')}})"
            )
            raise T7Error(hint, error.file, error.offset) from None

    cdef object run(self):
        cdef object value
        self.push(F_ROOT, 1, None)
        while self.depth:
            if self.plain_tables():
                value = self.finished()
                if self.depth == 0:
                    return value
            else:
                value = self.value()
                if self.opened:
                    continue
            while not self.deliver(value):
                value = self.finished()
                if self.depth == 0:
                    return value

    cdef bint plain_tables(self) except -1:
        """If an entry of a table comes next, read as much as the fast loops can. True at the table's end."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        if frame.kind != F_TABLE or frame.key_kind != K_NONE or not self.source.native:
            return False
        return self.build_tables() if self.building else self.scan_tables()

    cdef bint deliver(self, value) except -1:
        """Give a complete value to the top frame. False if that frame is then complete too."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef int kind = frame.kind
        if kind == F_TABLE or kind == F_HASH:
            if frame.key_kind == K_NONE:
                self.check_key(frame, value)
                return True
            if self.building and frame.key_kind != K_STORED:
                self.store(frame, value)
            frame.key_kind = K_NONE
        elif kind == F_ROOT:
            if self.building:
                Py_INCREF(value)
                frame.target = <PyObject *>value
        elif self.building:
            target = <object>frame.target
            if kind == F_PAYLOAD:
                object.__setattr__(target, "_payload", value)
            elif kind == F_UPVALUES:
                target.upvalues = value
            elif kind == F_VEC:
                target.torch_payload().append(value)
            else:
                self.parts_stack[-1][1].append(("object", value))
        frame.done += 1
        if kind == F_PARTS:
            return self.plain_parts(frame)
        return frame.done < frame.count

    # Values.

    cdef object value(self):
        """Read a value. If it contains other values, only its beginning is read, and `opened` is set."""
        cdef int64_t offset = self.source.tell()
        cdef int64_t kind = self.source.integer("a value's type")
        cdef int64_t index, place
        self.opened = False
        if kind == T_NUMBER:
            return self.number(self.source.number())
        if kind == T_STRING:
            return self.string()
        if kind == T_TABLE or kind == T_TORCH or kind == T_NEW_FUNCTION or kind == T_OLD_FUNCTION:
            index = self.index()
            place = self.indices.get(index)
            if place >= 0:
                return self.seen(place, kind == T_TABLE, kind >= T_OLD_FUNCTION)
            if kind == T_TABLE:
                return self.table(index, self.frames[self.depth - 1].kind == F_PAYLOAD)
            if kind == T_TORCH:
                return self.torch_object(index)
            return self.function(index, kind)
        if kind == T_BOOLEAN:
            return self.boolean()
        if kind == T_NIL:
            self.kind = K_NONE
            return None
        if kind == T_FUNCTION:
            return self.function(0, kind)
        self.source.fail(f"a value of type {kind}; the types are 0 to 8", offset)

    cdef object seen(self, int64_t place, bint table, bint function):
        """The object of an index that was read before."""
        cdef Slot *slot = &self.slots[place]
        if table != (slot.kind == S_TABLE) or function != (slot.kind == S_FUNCTION):
            self.source.fail("an index of an object of another kind")
        self.kind = K_OTHER
        if not self.building:
            return None
        if slot.kind == S_STORAGE:
            return self.storage_value(place)
        return <object>slot.value

    cdef object function(self, int64_t index, int64_t kind):
        cdef int64_t length = self.source.length("a function")
        cdef object target = None
        self.kind = K_OTHER
        if self.building:
            target = TorchFunction(self.source.raw(length), None, kind)
        else:
            self.source.skip(length)
            if self.source.ascii and length:
                self.source.end_line()
        if kind != T_FUNCTION:
            self.add_slot(index, S_FUNCTION, target)
        self.push(F_UPVALUES, 1, target)
        self.opened = True
        return None
