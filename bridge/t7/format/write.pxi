# Writing values, with a stack of frames instead of recursion.

cdef enum:
    W_LIST, W_DICT, W_PARTS

cdef struct Open:
    int kind
    PyObject *owner           # the list or tuple, the dict, or the TorchObject or TorchFunction
    PyObject *values          # W_PARTS: its parts, a list of (kind, value)
    PyObject *key             # W_DICT: key of the value that comes next; W_LIST: None for a tds.Vec
    PyObject *value           # W_DICT: the value that comes next
    Py_ssize_t at, count, done


@cython.final
@cython.internal
cdef class Writer(Tensors):
    cdef Open *frames
    cdef int64_t depth, frames_size

    def __dealloc__(self):
        while self.depth:
            self.pop()
        free(self.frames)

    cdef int pop(self) except -1:
        cdef Open *frame
        self.depth -= 1
        frame = &self.frames[self.depth]
        Py_XDECREF(frame.owner)
        Py_XDECREF(frame.values)
        Py_XDECREF(frame.key)
        Py_XDECREF(frame.value)
        return 0

    cdef Open *push(self, int kind, owner, Py_ssize_t count) except NULL:
        cdef Open *frame
        cdef int64_t size
        if self.depth == self.frames_size:
            size = self.frames_size * 2 + 64
            frame = <Open *>realloc(self.frames, size * sizeof(Open))
            if frame == NULL:
                raise MemoryError()
            self.frames, self.frames_size = frame, size
        frame = &self.frames[self.depth]
        memset(frame, 0, sizeof(Open))
        frame.kind, frame.count = kind, count
        Py_INCREF(owner)
        frame.owner = <PyObject *>owner
        self.depth += 1
        return frame

    cdef int write(self, root) except -1:
        try:
            self.value(root)
            while self.depth:
                self.step()
        except (T7Error, TypeError, OverflowError, UnicodeEncodeError) as error:
            raise T7Error(f"{self.path()}: {error}") from (None if isinstance(error, T7Error) else error)
        return self.sink.flush()

    cdef int step(self) except -1:
        """Write the next key, value or part of the top frame."""
        cdef Open *frame = &self.frames[self.depth - 1]
        cdef PyObject *key
        cdef PyObject *value
        cdef object item
        if frame.kind == W_DICT:
            if frame.value != NULL:
                item = <object>frame.value
                Py_DECREF(item)
                frame.value = NULL
                return self.value(item)
            if not PyDict_Next(<object>frame.owner, &frame.at, &key, &value):
                self.complete(frame)
                return self.pop()
            Py_INCREF(<object>key)
            Py_INCREF(<object>value)
            Py_XDECREF(frame.key)
            frame.key, frame.value = key, value
            frame.done += 1
            return self.key(<object>key)
        if frame.kind == W_LIST:
            if frame.at == frame.count:
                self.complete(frame)
                return self.pop()
            item = <object>frame.owner
            if frame.at >= len(item):
                self.complete(frame)
            item = item[frame.at]
            frame.at += 1
            frame.done += 1
            if frame.key == NULL:      # a table's entry comes after its number, that of a tds.Vec has none
                self.sink.integer(T_NUMBER)
                self.sink.number(frame.at)
            return self.value(item)
        if frame.at == frame.count:
            return self.pop()
        kind, item = (<list>frame.values)[frame.at]
        frame.at += 1
        return self.part(kind, item)

    cdef int complete(self, Open *frame) except -1:
        if frame.done != frame.count or len(<object>frame.owner) != frame.count:
            raise T7Error("changed while it was written")
        return 0

    cdef str path(self):
        """The value that is being written, as an expression such as obj["a"][3]."""
        cdef list steps = ["obj"]
        cdef int64_t i
        cdef Open *frame
        for i in range(self.depth):
            frame = &self.frames[i]
            owner = <object>frame.owner
            if frame.kind == W_LIST:
                steps.append(f"[{frame.at - 1}]" if frame.at else "")
            elif frame.kind == W_PARTS:
                if isinstance(owner, TorchFunction):
                    steps.append(".upvalues")
            elif frame.key != NULL:
                key = <object>frame.key
                if not isinstance(key, (str, bytes, int, float, Key)):
                    key = type(key)
                if frame.value != NULL:     # the key itself is being written
                    steps.append(f", key {key!r:.60}")
                else:
                    steps.append(f"[{key!r:.60}]")
            if len(steps) > 40:             # too deep: show only the beginning and the end
                del steps[20]
                steps[19] = " ... "
        return "".join(steps)

    # Values.

    cdef int value(self, value) except -1:
        cdef object kind = type(value)
        if kind is str:
            return self.string(value)
        if kind is int or kind is float:
            self.sink.integer(T_NUMBER)
            return self.sink.number(exact(value) if kind is int else PyFloat_AS_DOUBLE(value))
        if kind is dict:
            return self.table(W_DICT, value)
        if kind is list or kind is tuple:
            return self.table(W_LIST, value)
        if value is None:
            return self.sink.integer(T_NIL)
        if kind is bool:
            self.sink.integer(T_BOOLEAN)
            return self.sink.integer(1 if value else 0)
        if kind is bytes:
            return self.bytes_value(value)
        if kind is TorchObject:
            return self.torch_object(value)
        if kind is ndarray:
            return self.array(value)
        if kind is Storage:
            return self.storage_alone(value)
        if kind is TorchFunction:
            return self.function(value)
        if kind is Key:
            raise T7Error("a Key stands for a table's key and is no value")
        return self.other(value)

    cdef int other(self, value) except -1:
        """Write a value of another type, as one of the types above."""
        cdef object plain
        if isinstance(value, TorchObject):
            return self.torch_object(value)
        if isinstance(value, numpy.ndarray) or hasattr(value, "untyped_storage"):
            return self.array(value)
        plain = self.plain(value)
        if type(plain) in (list, dict):      # the file's index belongs to the original object
            return self.table(W_LIST if type(plain) is list else W_DICT, plain, value)
        if type(plain) not in (str, int, float, bytes, bool):
            raise T7Error(f"{type(value).__name__} became {type(plain).__name__}")
        return self.value(plain)

    cdef int key(self, key) except -1:
        cdef object kind = type(key)
        if key is None:
            raise T7Error("None is no key of a Lua table")
        if kind is Key:
            key = key.value
            if type(key) is Key or key is None:
                raise T7Error(f"{key!r:.60} is no key of a Lua table")
        if kind is float and isnan(<double>key):
            raise T7Error("nan is no key of a Lua table")
        return self.value(key)

    cdef int string(self, str value) except -1:
        cdef Py_ssize_t length
        cdef const char *text = PyUnicode_AsUTF8AndSize(value, &length)
        self.check_length(length)
        self.sink.integer(T_STRING)
        return self.sink.string(text, length)

    cdef int bytes_value(self, bytes value) except -1:
        self.check_length(len(value))
        self.sink.integer(T_STRING)
        return self.sink.string(PyBytes_AS_STRING(value), len(value))

    cdef int check_length(self, int64_t length) except -1:
        if length > INT_MAX:
            raise T7Error(f"a string of {length} bytes: the format holds up to {INT_MAX}, a ByteTensor holds more")
        return 0

    cdef int table(self, int kind, values, original=None) except -1:
        cdef Py_ssize_t count = len(values)
        if count > INT_MAX:
            raise T7Error(f"a table of {count} entries: the format holds up to {INT_MAX}")
        if self.begin(T_TABLE, values if original is None else original):
            self.sink.integer(count)
            self.push(kind, values, count)
        return 0

    cdef int function(self, value) except -1:
        cdef bytes code = value.code
        cdef int kind = value.kind
        if not T_FUNCTION <= kind <= T_NEW_FUNCTION:
            raise T7Error(f"a function of kind {kind}; they are 6 to 8")
        self.check_length(len(code))
        if kind == T_FUNCTION:
            self.sink.integer(kind)
        elif not self.begin(kind, value):
            return 0
        self.sink.string(PyBytes_AS_STRING(code), len(code))
        return self.push_parts(value, [("object", value.upvalues)])

    cdef int push_parts(self, owner, list parts) except -1:
        cdef Open *frame = self.push(W_PARTS, owner, len(parts))
        Py_INCREF(parts)
        frame.values = <PyObject *>parts
        return 0

    # Instances of classes.

    cdef int torch_object(self, value) except -1:
        cdef bytes name = value.torch_typename().encode()
        cdef object payload = value.torch_payload()
        cdef object tail = value._tail
        cdef tuple known = CLASSES.get(name)
        cdef int64_t count
        cdef Open *frame
        cdef str form
        if not 0 < len(name) <= 1000:
            raise T7Error(f"the name of a class of {len(name)} bytes; it has 1 to 1000")
        if known is not None and known[0] <= C_STORAGE:
            raise T7Error(f"a {name.decode()} is an array, a tensor or a Storage, not a TorchObject")
        if not self.begin(T_TORCH, value):
            return 0
        self.class_name(name, value.torch_version())
        if known is None:
            parts = list(value.torch_parts())
            if tail is not None:
                form = written_form(self.sink.ascii, self.sink.long_size, self.sink.swap)
                if tail[0] != form:
                    raise T7Error(
                        f"{name.decode()} has a layout of its own, whose end is known only in the form of the file it "
                        f"came from ({tail[0]}, this is {form}): load it with layouts={{{name.decode()!r}: (...)}}"
                    )
                parts.append(("tail", tail[1]))
            return self.push_parts(value, parts)
        if known[0] == C_GENERATOR:
            count = GENERATOR_BYTES if self.sink.ascii or self.sink.long_size == 8 else GENERATOR_BYTES_4
            if not isinstance(payload, bytes) or len(payload) != count:
                raise T7Error(f"a torch.Generator's payload is {count} bytes here, got {payload!r:.40}")
            return self.sink.raw(PyBytes_AsString(payload), count)
        if not isinstance(payload, list if known[0] == C_VEC else dict):
            raise T7Error(f"the payload of a {name.decode()} cannot be {type(payload).__name__}")
        count = len(payload)
        self.sink.longs(&count, 1)
        frame = self.push(W_LIST if known[0] == C_VEC else W_DICT, payload, count)
        if known[0] == C_VEC:
            Py_INCREF(None)
            frame.key = <PyObject *>None
        return 0

    cdef int part(self, kind, value) except -1:
        cdef int64_t whole
        cdef double real
        cdef float single
        cdef uint8_t[8] bits
        if kind == "object":
            return self.value(value)
        if kind == "tail":
            return self.sink.put(PyBytes_AsString(value), len(value))
        if kind == "double":
            return self.sink.number(value)
        if kind == "float":
            single = value
            memcpy(bits, &single, 4)
            return self.sink.elements(E_FLOAT, bits, 1)
        whole = value
        if kind == "long":
            return self.sink.longs(&whole, 1)
        width = {"byte": 8, "char": 8, "short": 16, "int": 32, "bool": 1}.get(kind)
        if width is None:
            raise T7Error(f"{kind!r:.40} is no kind of a layout's part; they are {', '.join(PART_KINDS)}")
        low = 0 if kind in ("byte", "bool") else -(1 << (width - 1))
        if not low <= whole < low + (1 << width):
            raise T7Error(f"{whole} does not fit {kind}")
        if width >= 32 or width == 1:
            return self.sink.integer(whole)
        memcpy(bits, &whole, 8)
        return self.sink.elements(E_BYTE if kind == "byte" else E_CHAR if kind == "char" else E_SHORT, bits, 1)

    cdef int array(self, value) except -1:
        """Write an array or a tensor; one without dimensions as a number."""
        return self.tensor(value) if len(value.shape) else self.value(value.item())


cdef double exact(value) except? -1:
    """An int as a double. Raises T7Error if the double would be another number."""
    cdef double number = float(value)
    if not -EXACT < number < EXACT and int(number) != value:
        raise T7Error(f"{value} is no double: pass float({value}) to have it rounded, or an int64 array")
    return number


def written(obj, int fd, plain, *, bint ascii=False, int long_size=8, bint swap=False):
    """Write one value to a descriptor and return the number of bytes; with -1 return the bytes."""
    cdef Sink sink = Sink(fd, ascii, long_size, swap)
    cdef Writer writer = Writer(sink, plain)
    writer.write(obj)
    return sink.written if fd >= 0 else sink.content()
