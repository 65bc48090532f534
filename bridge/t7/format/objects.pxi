# Reading instances of classes. Known classes have layouts of their own; `layouts` gives those of a program's classes.

cdef enum:
    MAX_TAIL = 1 << 16


@cython.internal
cdef class Objects(Plain):
    cdef dict layouts
    cdef str stranger                     # the last class whose layout is unknown
    cdef list parts_stack                 # [layout, values] for each frame of kind F_PARTS

    @cython.final
    cdef object torch_object(self, int64_t index):
        """Read an object's class, then the object as far as its layout allows."""
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
                self.stranger = typename        # classes of Torch7 itself write only their fields
            self.push(F_PAYLOAD, 1, target)
            return None
        self.parts_stack.append([layout, []])
        if self.plain_parts(self.push(F_PARTS, len(layout), target)):
            return None
        self.opened = False
        return self.finished()

    @cython.final
    cdef bint is_stranger(self, value) except -1:
        cdef str typename = value.torch_typename()
        return not (
            typename.startswith(("nn.", "torch.")) or typename in self.layouts or typename.encode() in CLASSES
        )

    @cython.final
    cdef bint plain_parts(self, Frame *frame) except -1:
        """Read the parts of a declared layout up to its next object. False: all parts are read."""
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

    @cython.final
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

    @cython.final
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


cdef object element_value(int element, const uint8_t *bits):
    if element == E_BYTE:
        return bits[0]
    if element == E_CHAR:
        return (<int8_t *>bits)[0]
    if element == E_SHORT:
        return (<int16_t *>bits)[0]
    return <double>(<float *>bits)[0]


cdef object version_number(bytes text):
    """The number after "V "; None if there is none, because a file from before versions has a class's name there."""
    if not text.removeprefix(b"-").replace(b".", b"", 1).isdigit():
        return None
    return float(text) if b"." in text else int(text)
