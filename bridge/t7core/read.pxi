# Reading: one walk over the file's grammar, done twice: scanning, which makes nothing, and building.

cdef enum:
    F_ROOT, F_TABLE, F_PAYLOAD, F_PARTS, F_UPVALUES, F_VEC, F_HASH

cdef enum:
    AS_DICT = 0
    AS_LIST = 1               # keys are 1, 2, 3 ... in this order
    AS_SHUFFLED = 2           # keys are 1 .. n in another order
    MARKED_KEYS = 4           # has booleans as keys besides 0 or 1, which are the same to Python

cdef enum:
    CACHED_STRINGS = 1024
    CACHED_LENGTH = 32
    MAX_TAIL = 1 << 16

cdef struct Frame:
    int kind
    int64_t count             # entries or values that the file announced
    int64_t done              # how many of them are complete
    PyObject *target          # what is being filled
    PyObject *key             # a key whose value comes next
    int key_kind
    double key_number
    int64_t place             # of the table's shape
    bint ordered, whole, booleans, binary      # what the keys seen so far are
    uint64_t found, expected  # sums over the keys, and over 1 .. n: the same for the same set


@cython.final
@cython.internal
cdef class Reader(Arrays):
    cdef bint opened                      # the last value has begun, and has values of its own
    cdef bint always_dict
    cdef dict layouts
    cdef Frame *frames
    cdef int64_t depth, frames_size
    cdef uint8_t *shapes                  # what each table becomes, in the order of the file
    cdef int64_t shape_count, shapes_size, shapes_known
    cdef PyObject *strings[CACHED_STRINGS]
    cdef int64_t plain_bytes              # of the plain values that were looked at last
    cdef double scanned
    cdef str stranger                     # the last class of unknown layout
    cdef list parts_stack                 # of the frames of kind F_PARTS: [layout, values]

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

    cdef void forget(self) noexcept:
        """Drop what a walk has left."""
        while self.depth:
            self.depth -= 1
            Py_XDECREF(self.frames[self.depth].target)
            Py_XDECREF(self.frames[self.depth].key)
        while self.slot_count:
            self.slot_count -= 1
            Py_XDECREF(self.slots[self.slot_count].value)

    cdef object walk(self, bint building):
        """Read one value from the file's beginning."""
        self.forget()
        self.building = building
        self.indices = Map()
        self.storage_values = {}
        self.parts_stack = []
        self.stranger = None
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
            if self.frames[self.depth - 1].kind == F_TABLE and self.source.native and self.entries():
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

    cdef object finished(self):
        """Take the uppermost frame away and return what it has filled."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef object target = None
        if frame.target != NULL:
            target = <object>frame.target
            Py_DECREF(target)
        if not self.building:
            self.kind = K_OTHER
            if frame.kind == F_TABLE:
                self.note_shape(frame)
        self.depth -= 1
        return target

    cdef bint deliver(self, value) except -1:
        """Give a complete value to the frame it belongs to; False when that frame is complete by it."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef int kind = frame.kind
        if kind == F_TABLE or kind == F_HASH:
            if frame.key_kind == K_NONE:
                self.check_key(frame, value)
                return True
            frame.key_kind = K_NONE
            if self.building:
                self.store(frame, value)
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

    # Tables.

    cdef bint entries(self) except -1:
        """Read the uppermost table's entries as long as they are plain and wholly in the window; True at its end."""
        cdef Frame *frame = &self.frames[self.depth - 1]
        cdef const uint8_t *key
        cdef const uint8_t *value
        while frame.key_kind == K_NONE:
            key = self.plain_value(0)
            if key == NULL:
                return False
            value = self.plain_value(self.plain_bytes)
            if value == NULL:
                return False
            if self.building:
                self.store_plain(frame, key, value)
            else:
                self.note_plain_key(frame, key)
            self.source.at += self.plain_bytes
            frame.done += 1
            if frame.done == frame.count:
                return True
        return False

    cdef inline const uint8_t *plain_value(self, int64_t skipped) noexcept:
        """Where a number, string or boolean lies in the window, `skipped` bytes on; adds its bytes to `plain_bytes`."""
        cdef Source source = self.source
        cdef int64_t left = source.have - source.at - skipped
        cdef const uint8_t *at = source.window + source.at + skipped
        cdef int32_t kind, length
        if left < 12:
            return NULL
        memcpy(&kind, at, 4)
        if kind == T_NUMBER:
            self.plain_bytes = skipped + 12
            return at
        memcpy(&length, at + 4, 4)
        if kind == T_STRING and 0 <= length <= left - 8:
            self.plain_bytes = skipped + 8 + length
            return at
        if kind == T_BOOLEAN and 0 <= length <= 1:
            self.plain_bytes = skipped + 8
            return at
        return NULL

    cdef int note_plain_key(self, Frame *frame, const uint8_t *key) except -1:
        if key[0] == T_NUMBER:
            memcpy(&self.scanned, key + 4, 8)
            self.kind = K_NUMBER
            return self.note_key(frame)
        frame.booleans |= key[0] == T_BOOLEAN
        frame.whole = False
        return 0

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

    cdef int store_plain(self, Frame *frame, const uint8_t *key, const uint8_t *value) except -1:
        cdef object target = <object>frame.target
        cdef object name
        if self.shapes[frame.place] & AS_LIST:
            PyList_Append(target, self.plain_object(value, False))
            return 0
        name = self.plain_object(key, True)
        if type(name) is not str and type(name) is not int:
            name = self.odd_key(frame, name)
        if type(target) is dict:
            PyDict_SetItem(target, name, self.plain_object(value, False))
        else:
            (<list>target)[name - 1] = self.plain_object(value, False)
        return 0

    cdef int check_key(self, Frame *frame, value) except -1:
        if not self.building:
            frame.key_kind = self.kind
            return self.note_key(frame)
        frame.key_kind = K_OTHER
        if type(value) is not str and type(value) is not int:
            value = self.odd_key(frame, value)
        Py_INCREF(value)
        frame.key = <PyObject *>value
        return 0

    cdef int note_key(self, Frame *frame) except -1:
        """See, while scanning, whether the keys are still those of a list."""
        cdef int64_t whole
        if self.kind == K_NUMBER:
            if isnan(self.scanned):
                self.source.fail("a table has nan as a key")
            frame.binary |= self.scanned == 0 or self.scanned == 1
            if not 1 <= self.scanned <= frame.count:
                frame.whole = False
                return 0
            whole = <int64_t>self.scanned
            if whole == frame.done + 1 and <double>whole == self.scanned:
                if not frame.ordered:
                    frame.found += mix(whole)
                    frame.expected += mix(whole)
                return 0
            frame.ordered = False
            frame.whole &= <double>whole == self.scanned
            frame.found += mix(whole)
            frame.expected += mix(frame.done + 1)
        elif self.kind == K_NONE:
            self.source.fail("a table has nil as a key")
        else:
            frame.booleans |= self.kind == K_BOOLEAN
            frame.whole = False
        return 0

    cdef object odd_key(self, Frame *frame, value):
        """A key that is neither a string nor a whole number."""
        if value is None:
            self.source.fail("a table has nil as a key")
        if type(value) is bool:
            return Key(value) if frame.kind == F_HASH or self.shapes[frame.place] & MARKED_KEYS else value
        if type(value) is float and isnan(<double>value):
            self.source.fail("a table has nan as a key")
        return value if isinstance(value, (float, bytes, TorchObject, TorchFunction)) else Key(value)

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

    cdef int store(self, Frame *frame, value) except -1:
        cdef object key = <object>frame.key
        cdef object target = <object>frame.target
        frame.key = NULL
        Py_DECREF(key)      # the name `key` has its own
        if frame.kind == F_HASH:
            target.torch_payload()[key] = value
        elif type(target) is dict:
            (<dict>target)[key] = value
        elif self.shapes[frame.place] & AS_LIST:
            (<list>target).append(value)
        else:
            (<list>target)[key - 1] = value
        return 0

    cdef object table(self, int64_t index, bint fields):
        """A table's beginning: it is known by its index before its entries are read."""
        cdef int64_t offset = self.source.tell()
        cdef int64_t count = self.source.integer("a table's size")
        cdef int shape = AS_DICT
        cdef object target = None
        cdef Frame *frame
        if count < 0 or count > self.source.left() // (4 if self.source.ascii else 12):
            self.source.fail(
                f"a table of {count} entries, but {self.source.left()} bytes are left in the file", offset
            )
        if self.shape_count == self.shapes_size:
            self.grow_shapes()
        if self.building:
            if self.shape_count >= self.shapes_known:
                self.source.fail("the file changed while it was read", offset)
            shape = self.shapes[self.shape_count]
            if fields:
                shape &= MARKED_KEYS
                self.shapes[self.shape_count] = shape
            if shape & AS_LIST or (count == 0 and not fields and not self.always_dict):
                target = []
            elif shape & AS_SHUFFLED:
                target = [None] * count
            else:
                target = {}
        else:
            self.shapes[self.shape_count] = AS_DICT
        self.shape_count += 1
        self.add_slot(index, S_TABLE, target)
        if count == 0:
            self.kind = K_OTHER
            return target
        frame = self.push(F_TABLE, count, target)
        frame.place = self.shape_count - 1
        self.opened = True
        return None

    cdef int grow_shapes(self) except -1:
        cdef int64_t size = self.shapes_size * 2 + 256
        cdef uint8_t *shapes = <uint8_t *>realloc(self.shapes, size)
        if shapes == NULL:
            raise MemoryError()
        self.shapes, self.shapes_size = shapes, size
        return 0

    cdef object seen(self, int64_t place, bint table, bint function):
        """What an index stands for that was met before."""
        cdef Slot *slot = &self.slots[place]
        if table != (slot.kind == S_TABLE) or function != (slot.kind == S_FUNCTION):
            self.source.fail("an index of an object of another kind")
        self.kind = K_OTHER
        if not self.building:
            return None
        if slot.kind == S_STORAGE:
            return self.storage_value(place)
        return <object>slot.value

    # Values.

    cdef object value(self):
        """Read a value, or the beginning of one that has values of its own: then `opened` is set."""
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

    cdef object number(self, double value):
        if not self.building:
            self.kind = K_NUMBER
            self.scanned = value
            return None
        return number_value(value)

    cdef object boolean(self):
        cdef int64_t offset = self.source.tell()
        cdef int64_t value = self.source.integer("a boolean")
        if not 0 <= value <= 1:
            self.source.fail(f"a boolean of {value}", offset)
        self.kind = K_BOOLEAN
        return value == 1

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

    cdef object short_string(self, const char *text, int64_t length):
        """A string that is likely to come again, as the keys of a thousand tables do."""
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

    # Instances of classes.

    cdef object torch_object(self, int64_t index):
        """An object's class, and what is known of how the class writes itself."""
        cdef int64_t offset = self.source.tell()
        cdef bytes name = self.class_text()
        cdef object version = None
        cdef tuple known
        cdef str typename
        cdef object target = None
        cdef object layout
        if name[:2] == b"V ":
            version = version_number(name[2:])
            if version is not None:
                offset = self.source.tell()
                name = self.class_text()
        known = CLASSES.get(name)
        if known is not None:
            return self.known_object(index, name, version, known[0], known[1])
        try:
            typename = name.decode()
        except UnicodeDecodeError:
            typename = None
        if not typename or not typename.isprintable():
            self.source.fail(f"{name[:40]!r} is no name of a class", offset)
        layout = self.layouts.get(typename)
        if self.building:
            target = TorchObject(typename, None, version)
        self.add_slot(index, S_OBJECT, target)
        self.opened = True
        if layout is None:
            if not typename.startswith(("nn.", "torch.")):
                self.stranger = typename        # those of Torch7 itself write their fields alone
            self.push(F_PAYLOAD, 1, target)
            return None
        self.parts_stack.append([layout, []])
        if self.plain_parts(self.push(F_PARTS, len(layout), target)):
            return None
        self.opened = False
        return self.finished()

    cdef bint is_stranger(self, value) except -1:
        cdef str typename = value.torch_typename()
        return not (
            typename.startswith(("nn.", "torch.")) or typename in self.layouts or typename.encode() in CLASSES
        )

    cdef bint plain_parts(self, Frame *frame) except -1:
        """Read a declared layout up to the next object in it; False when all was read."""
        cdef list values
        cdef tuple layout
        layout, values = self.parts_stack[-1]
        while frame.done < frame.count:
            kind = layout[frame.done]
            if kind == "object":
                return True
            values.append((kind, self.part(kind)))
            frame.done += 1
        self.parts_stack.pop()
        if self.building:
            target = <object>frame.target
            object.__setattr__(target, "_parts", values)
            payload = [value for kind, value in values if kind == "object"]
            if payload:
                object.__setattr__(target, "_payload", payload[0])
        return False

    cdef object part(self, str kind):
        cdef int64_t whole = 0
        cdef uint8_t[8] bits
        cdef int element = {"byte": E_BYTE, "char": E_CHAR, "short": E_SHORT, "float": E_FLOAT}.get(kind, E_DOUBLE)
        if kind == "int":
            return self.source.integer("an int")
        if kind == "bool":
            return self.boolean()
        if kind == "double":
            return self.source.number()
        if kind == "long":
            self.source.longs(&whole, 1, "a long")
            return whole
        self.source.elements(element, bits, 1)
        return element_value(element, bits)

    cdef object known_object(self, int64_t index, bytes name, version, int kind, int element):
        cdef int64_t count = 0
        cdef int64_t offset
        cdef object target = None
        self.kind = K_OTHER
        if kind == C_TENSOR:
            return self.tensor(index, element)
        if kind == C_STORAGE:
            count = self.storage(index, element)
            return self.storage_value(count) if self.building else None
        if kind == C_GENERATOR:
            count = GENERATOR_BYTES if self.source.long_size == 8 or self.source.ascii else GENERATOR_BYTES_4
            if count > self.source.left():
                self.source.ended("a torch.Generator")
            if self.building:
                target = TorchObject("torch.Generator", self.source.raw(count), version)
            else:
                self.source.skip(count)
                if self.source.ascii:
                    self.source.end_line()
            self.add_slot(index, S_OBJECT, target)
            return target
        offset = self.source.tell()
        self.source.longs(&count, 1, "a number of elements")
        if not 0 <= count <= self.source.left() // (2 if self.source.ascii else 4):
            self.source.fail(
                f"a {name.decode()} of {count} elements, but {self.source.left()} bytes are left in the file", offset
            )
        if self.building:
            target = TorchObject(name.decode(), [] if kind == C_VEC else {}, version)
        self.add_slot(index, S_OBJECT, target)
        if count == 0:
            return target
        self.push(F_VEC if kind == C_VEC else F_HASH, count, target)
        self.opened = True
        return None
