# Reading plain values: numbers, strings, booleans, and tables of these. In a binary file with this machine's byte
# order, two fast loops (scan_tables, build_tables) read most of them.

cdef enum:
    CACHED_STRINGS = 1024
    CACHED_LENGTH = 32


cdef inline object number_value(double number):
    """An int if the number is whole and below 2^53, else a float, also for -0.0."""
    cdef int64_t whole
    if -EXACT < number < EXACT:
        whole = <int64_t>number
        if <double>whole == number and not (whole == 0 and signbit(number)):
            return whole
    return number


cdef inline object text_value(const char *text, int64_t length):
    try:
        return PyUnicode_DecodeUTF8(text, length, NULL)
    except UnicodeDecodeError:
        return PyBytes_FromStringAndSize(text, length)


cdef inline const uint8_t *after_plain(const uint8_t *at, const uint8_t *end) noexcept nogil:
    """The end of the number, string or boolean at `at`; NULL: another value, or one that is cut off by `end`."""
    cdef int32_t kind, length
    if end - at < 12:
        return NULL
    memcpy(&kind, at, 4)
    if kind == T_NUMBER:
        return at + 12
    memcpy(&length, at + 4, 4)
    if kind == T_STRING and 0 <= length <= end - at - 8:
        return at + 8 + length
    if kind == T_BOOLEAN and 0 <= length <= 1:
        return at + 8
    return NULL


@cython.internal
cdef class Plain(Tables):
    cdef PyObject *strings[CACHED_STRINGS]

    @cython.final
    cdef inline const uint8_t *after_table(self, const uint8_t *at, const uint8_t *end, int64_t *index,
                                           int64_t *count) noexcept:
        """The end of a table's head, its index and count (-1: it was read before). NULL: not a table, or a bad one."""
        cdef int32_t[3] head
        cdef int64_t place
        if end - at < 12:
            return NULL
        memcpy(head, at, 12)
        if head[0] != T_TABLE or head[1] < 1:
            return NULL
        index[0], count[0] = head[1], -1
        place = self.indices.get(head[1])
        if place >= 0:
            return at + 8 if self.slots[place].kind == S_TABLE else NULL
        if not 0 <= head[2] <= (self.source.size - self.source.start - (at + 12 - self.source.window)) // 12:
            return NULL
        count[0] = head[2]
        return at + 12

    @cython.final
    cdef bint scan_tables(self) except -1:
        """Scan the top frame's table, and tables in it, as long as all is plain and in the window. True at its end."""
        cdef Source source = self.source
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef int64_t first = self.depth
        cdef const uint8_t *at = source.window + source.at
        cdef const uint8_t *end = source.window + source.have
        cdef const uint8_t *value
        cdef const uint8_t *after
        cdef int64_t index, count
        cdef double number
        while True:
            source.at = at - source.window
            value = after_plain(at, end)
            if value == NULL:
                return False
            count = -1
            after = after_plain(value, end)
            if after == NULL:
                after = self.after_table(value, end, &index, &count)
                if after == NULL:
                    return False
            if at[0] == T_NUMBER:
                memcpy(&number, at + 4, 8)
                self.note_key(frame, K_NUMBER, number)
            else:
                frame.booleans |= at[0] == T_BOOLEAN
                frame.whole = False
            at = after
            if count >= 0:
                self.new_table(index, count, False)
            if count > 0:
                frame.key_kind = K_STORED
                frame = self.push(F_TABLE, count, None)
                frame.place = self.shape_count - 1
                continue
            frame.done += 1
            while frame.done == frame.count:
                if self.depth == first:
                    source.at = at - source.window
                    return True
                self.finished()
                frame = &self.frames[self.depth - 1]
                frame.key_kind = K_NONE
                frame.done += 1

    @cython.final
    cdef bint build_tables(self) except -1:
        """As `scan_tables`, but make the values. A table is stored in the one around it before its entries are read."""
        cdef Source source = self.source
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef int64_t first = self.depth
        cdef const uint8_t *at = source.window + source.at
        cdef const uint8_t *end = source.window + source.have
        cdef const uint8_t *value
        cdef const uint8_t *after
        cdef int64_t index, count
        cdef object item
        while True:
            source.at = at - source.window
            value = after_plain(at, end)
            if value == NULL:
                return False
            count = -1
            after = after_plain(value, end)
            if after != NULL:
                item = self.plain_object(value, False)
            else:
                after = self.after_table(value, end, &index, &count)
                if after == NULL:
                    return False
                if count < 0:
                    item = <object>self.slots[self.indices.get(index)].value
                else:
                    item = self.new_table(index, count, False)
            self.store_plain(frame, at, item)
            at = after
            if count > 0:
                frame.key_kind = K_STORED
                frame = self.push(F_TABLE, count, item)
                frame.place = self.shape_count - 1
                continue
            frame.done += 1
            while frame.done == frame.count:
                if self.depth == first:
                    source.at = at - source.window
                    return True
                self.popped()
                frame = &self.frames[self.depth - 1]
                frame.key_kind = K_NONE
                frame.done += 1

    @cython.final
    cdef inline object plain_object(self, const uint8_t *at, bint is_key):
        cdef double number
        cdef int32_t length
        if at[0] == T_NUMBER:
            memcpy(&number, at + 4, 8)
            return number_value(number)
        memcpy(&length, at + 4, 4)
        if at[0] == T_BOOLEAN:
            return length == 1
        if is_key and length <= CACHED_LENGTH:
            return self.short_string(<const char *>at + 8, length)
        return text_value(<const char *>at + 8, length)

    @cython.final
    cdef inline int store_plain(self, Frame *frame, const uint8_t *key, value) except -1:
        cdef object name
        if self.shapes[frame.place] & AS_LIST:
            Py_INCREF(value)
            PyList_SetItem(<object>frame.target, frame.done, value)
            return 0
        name = self.plain_object(key, True)
        if type(name) is not str and type(name) is not int:
            name = self.odd_key(frame, name)
        return self.enter(<object>frame.target, name, value)

    @cython.final
    cdef object string(self):
        cdef int64_t length = self.source.length("a string")
        cdef const char *text
        cdef bytes raw
        cdef object value
        self.kind = K_OTHER
        if not self.building:
            self.source.skip(length)
            if self.source.ascii and length:
                self.source.end_line()
            return None
        if length <= WINDOW:
            text = <const char *>self.source.take(length)
            if length <= CACHED_LENGTH:
                value = self.short_string(text, length)
            else:
                value = text_value(text, length)
            if self.source.ascii and length:
                self.source.end_line()
            return value
        raw = self.source.raw(length)
        try:
            return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(raw), length, NULL)
        except UnicodeDecodeError:
            return raw

    @cython.final
    cdef object short_string(self, const char *text, int64_t length):
        """A short string, from a cache if it was read before, as keys of many tables are."""
        cdef uint64_t sum = length
        cdef int64_t i
        cdef PyObject **entry
        cdef object value
        for i in range(length):
            sum = sum * 31 + <uint8_t>text[i]
        entry = &self.strings[(sum ^ (sum >> 10)) % CACHED_STRINGS]
        if entry[0] != NULL:
            value = <object>entry[0]
            if PyUnicode_GET_LENGTH(value) == length and memcmp(PyUnicode_1BYTE_DATA(value), text, length) == 0:
                return value
        value = text_value(text, length)
        if type(value) is str and PyUnicode_IS_COMPACT_ASCII(value):
            Py_INCREF(value)
            Py_XDECREF(entry[0])
            entry[0] = <PyObject *>value
        return value

    @cython.final
    cdef object number(self, double value):
        if not self.building:
            self.kind = K_NUMBER
            self.scanned = value
            return None
        return number_value(value)

    @cython.final
    cdef object boolean(self):
        cdef int64_t offset = self.source.tell()
        cdef int64_t value = self.source.integer("a boolean")
        if not 0 <= value <= 1:
            self.source.fail(f"a boolean of {value}", offset)
        self.kind = K_BOOLEAN
        return value == 1
