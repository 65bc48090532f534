# Where bytes are read from: an open file, through a window, or bytes in memory. Binary and ascii files.
#
# No memory is allocated for a count in the file before it is certain that the rest of the file is long enough.

cdef enum:
    SMALL_WINDOW = 4096
    WINDOW = 1 << 20
    TOKEN = 64
    HUGE = 4 << 20            # bytes from which memory is given large pages, if the system has them


@cython.final
@cython.internal
cdef class Source:
    cdef int fd
    cdef object held                  # the bytes, if there is no file
    cdef Py_buffer view
    cdef bint viewed
    cdef uint8_t *buffer
    cdef const uint8_t *window        # of the file's bytes from `start` to `start + have`
    cdef int64_t start, have, at, capacity
    cdef int64_t size
    cdef readonly str name
    cdef bint ascii, swap             # the file's form; `native`: neither
    cdef bint native
    cdef int long_size
    cdef int64_t first_long           # the first long of 8 bytes that was read, or 0
    cdef char[TOKEN] token
    cdef int token_length

    def __cinit__(self, where, str name, int64_t size=0):
        self.name = name
        self.long_size = 8
        if isinstance(where, int):
            self.fd = where
            self.size = size
            self.buffer = <uint8_t *>malloc(WINDOW)
            if self.buffer == NULL:
                raise MemoryError()
            self.window = self.buffer
        else:
            self.fd = -1
            PyObject_GetBuffer(where, &self.view, PyBUF_SIMPLE)
            self.viewed = True
            self.window = <const uint8_t *>self.view.buf
            self.size = self.have = self.view.len
        self.capacity = SMALL_WINDOW

    def __dealloc__(self):
        free(self.buffer)
        if self.viewed:
            PyBuffer_Release(&self.view)

    cdef inline int64_t tell(self) noexcept:
        return self.start + self.at

    cdef inline int64_t left(self) noexcept:
        return self.size - self.start - self.at

    cdef int fail(self, str text, int64_t offset=-1) except -1:
        offset = self.tell() if offset < 0 else offset
        raise T7Error(f"{self.name}: at byte {offset}: {text}", self.name, offset)

    cdef int ended(self, str what) except -1:
        return self.fail(f"the file ends inside {what}: it has {self.size} bytes")

    cdef int seek(self, int64_t offset) except -1:
        """Go to an offset of the file, within its size."""
        if self.start <= offset <= self.start + self.have:
            self.at = offset - self.start
        else:
            self.start, self.have, self.at = offset, 0, 0
            self.capacity = SMALL_WINDOW
        return 0

    cdef int read_at(self, int64_t offset, uint8_t *target, int64_t count) except -1:
        """Read from the file. Raises T7Error if it has become shorter."""
        cdef ssize_t got
        while count > 0:
            with nogil:
                got = pread(self.fd, target, min(count, <int64_t>1 << 30), offset)
            if got < 0:
                if errno == EINTR:
                    PyErr_CheckSignals()
                    continue
                PyErr_SetFromErrno(OSError)
            if got == 0:
                self.fail("the file got shorter while it was read", offset)
            target += got
            offset += got
            count -= got
        return 0

    cdef int fill(self, int64_t need) except -1:
        """Move the window so that it has `need` bytes (at most WINDOW) from the current position on."""
        cdef int64_t kept = self.have - self.at
        if self.fd < 0 or need > self.left():
            return self.ended("a value")
        memmove(self.buffer, self.buffer + self.at, kept)
        self.start += self.at
        self.at = 0
        self.have = kept
        while self.capacity < need:
            self.capacity *= 2
        need = min(self.capacity, self.size - self.start)
        self.read_at(self.start + kept, self.buffer + kept, need - kept)
        self.have = need
        self.capacity = min(self.capacity * 2, <int64_t>WINDOW)
        return 0

    cdef inline const uint8_t *take(self, int64_t count) except NULL:
        """The next `count` bytes (at most WINDOW); valid until the next call."""
        if self.have - self.at < count:
            self.fill(count)
        self.at += count
        return self.window + self.at - count

    cdef int into(self, uint8_t *target, int64_t count) except -1:
        """Copy the next bytes: those in the window, then the rest directly from the file."""
        cdef int64_t near = min(count, self.have - self.at)
        if count > self.left():
            return self.ended("a value")
        if near:                                     # with 0 bytes, `target` may be NULL
            memcpy(target, self.window + self.at, near)
            self.at += near
        if count > near:
            if self.fd < 0:
                return self.ended("a value")
            if count - near < SMALL_WINDOW:
                memcpy(target + near, self.take(count - near), count - near)
                return 0
            self.read_at(self.tell(), target + near, count - near)
            self.seek(self.tell() + count - near)
        return 0

    cdef int skip(self, int64_t count) except -1:
        if count > self.left():
            return self.ended("a value")
        return self.seek(self.tell() + count)

    # The ascii form: blanks between numbers, and a newline after each group that Torch7 wrote by one call.

    cdef inline int peek(self) except -2:
        """The next byte, or -1 at the end."""
        if self.have == self.at:
            if self.left() == 0:
                return -1
            self.fill(1)
        return self.window[self.at]

    cdef int next_token(self, str what) except -1:
        cdef int byte = self.peek()
        while byte == 32 or 9 <= byte <= 13:
            self.at += 1
            byte = self.peek()
        self.token_length = 0
        while byte > 32:
            if self.token_length == TOKEN - 1:
                return self.fail(f"expected {what}, got {self.shown_token()}...")
            self.token[self.token_length] = <char>byte
            self.token_length += 1
            self.at += 1
            byte = self.peek()
        self.token[self.token_length] = 0
        if self.token_length == 0:
            if byte == -1:
                return self.ended(what)
            return self.fail(f"expected {what}, got the byte {byte}")
        return 0

    cdef str shown_token(self):
        return repr((<bytes>self.token[:self.token_length]).decode("latin-1"))

    cdef int end_line(self) except -1:
        if self.peek() == 10:
            self.at += 1
        return 0

    cdef int64_t token_integer(self, str what) except? -1:
        """The next token, a whole number of 64 bits."""
        cdef int i = 0
        cdef bint negative
        cdef uint64_t value = 0
        self.next_token(what)
        negative = self.token[0] == c'-'
        i = negative or self.token[0] == c'+'
        if not 1 <= self.token_length - i <= 19:     # 19 digits always fit 64 bits unsigned
            self.fail(f"expected {what}, got {self.shown_token()}")
        while i < self.token_length:
            if not c'0' <= self.token[i] <= c'9':
                self.fail(f"expected {what}, got {self.shown_token()}")
            value = value * 10 + <uint64_t>(self.token[i] - c'0')
            i += 1
        if value > <uint64_t>0x7fffffffffffffff + negative:
            self.fail(f"expected {what}, got {self.shown_token()}: it does not fit 64 bits")
        return <int64_t>(-value if negative else value)

    cdef double token_double(self) except? -1:
        cdef const char *digits
        cdef char *end
        cdef bint negative
        cdef double value
        self.next_token("a number")
        negative = self.token[0] == c'-'
        digits = &self.token[negative]
        if strncmp(digits, b"nan", 3) == 0:      # C prints a nan with its sign, which Python's function would drop
            return -NAN if negative else NAN
        try:
            value = PyOS_string_to_double(self.token, &end, NULL)
        except ValueError:
            end = self.token
            value = 0
        if end != &self.token[self.token_length]:
            self.fail(f"expected a number, got {self.shown_token()}")
        return value

    # Single values, binary or ascii.

    cdef inline int64_t integer(self, str what) except? -1:
        """An `int` of four bytes."""
        cdef int32_t value
        if self.native and self.have - self.at >= 4:
            memcpy(&value, self.window + self.at, 4)
            self.at += 4
            return value
        return self.any_integer(what)

    cdef int64_t any_integer(self, str what) except? -1:
        cdef uint32_t bits
        cdef int64_t value
        if self.ascii:
            value = self.token_integer(what)
            self.end_line()
            if not -INT_MAX - 1 <= value <= INT_MAX:
                self.fail(f"expected {what}, got {value}: it does not fit 32 bits")
            return value
        memcpy(&bits, self.take(4), 4)
        return <int32_t>(__builtin_bswap32(bits) if self.swap else bits)

    cdef int64_t binary_long(self) except? -1:
        cdef uint32_t bits
        cdef uint64_t wide
        if self.long_size == 4:
            memcpy(&bits, self.take(4), 4)
            return <int32_t>(__builtin_bswap32(bits) if self.swap else bits)
        memcpy(&wide, self.take(8), 8)
        if self.swap:
            wide = __builtin_bswap64(wide)
        if self.first_long == 0:
            self.first_long = <int64_t>wide
        return <int64_t>wide

    cdef int longs(self, int64_t *target, int64_t count, str what) except -1:
        """Read a group of longs, which Torch7 wrote by one call."""
        cdef int64_t i
        for i in range(count):
            target[i] = self.token_integer(what) if self.ascii else self.binary_long()
        if self.ascii and count:
            self.end_line()
        return 0

    cdef double number(self) except? -1:
        cdef uint64_t bits
        cdef double value
        if self.ascii:
            value = self.token_double()
            self.end_line()
            return value
        memcpy(&bits, self.take(8), 8)
        if self.swap:
            bits = __builtin_bswap64(bits)
        memcpy(&value, &bits, 8)
        return value

    cdef int64_t length(self, str what) except -1:
        """Read a number of bytes, and check that the file has so many left."""
        cdef int64_t offset = self.tell()
        cdef int64_t count = self.integer(f"the length of {what}" if self.ascii else "")
        if not 0 <= count <= self.left():
            self.fail(f"{what} of {count} bytes, but {self.left()} are left in the file", offset)
        return count

    cdef bytes raw(self, int64_t count):
        """The next bytes; the ascii form has a newline after them, which is skipped."""
        cdef bytes value
        if count > self.left():
            self.ended("a value")
        value = PyBytes_FromStringAndSize(NULL, count)
        self.into(<uint8_t *>PyBytes_AS_STRING(value), count)
        if self.ascii and count:
            self.end_line()
        return value

    cdef bytes raw_tail(self):
        """The rest of the file."""
        cdef bytes value = PyBytes_FromStringAndSize(NULL, self.left())
        self.into(<uint8_t *>PyBytes_AS_STRING(value), len(value))
        return value

    # Elements of a storage.

    cdef int64_t least_bytes(self, int element, int64_t count) noexcept:
        """The fewest bytes that so many elements can take in the file."""
        if not self.ascii:
            return count * (self.long_size if element == E_LONG else ELEMENT_SIZE[element])
        return count if element <= E_CHAR else count * 2 - (count > 0)

    cdef int skip_elements(self, int element, int64_t count) except -1:
        if not self.ascii or element <= E_CHAR:
            self.skip(self.least_bytes(element, count))
        elif element <= E_LONG:
            for _ in range(count):
                self.check_element(element, self.token_integer("an element"))
        else:
            for _ in range(count):
                self.next_token("an element")     # whether it is a number is checked when it is read
        if self.ascii and count:
            self.end_line()
        return 0

    cdef inline int check_element(self, int element, int64_t value) except -1:
        cdef int bits = 8 * ELEMENT_SIZE[element] - 1
        if element != E_LONG and value >> bits != 0 and value >> bits != -1:
            self.fail(f"the element {value} does not fit {ELEMENT_NAMES[element]}")
        return 0

    cdef int elements(self, int element, uint8_t *target, int64_t count) except -1:
        """Read elements into fresh memory."""
        cdef int64_t i, value
        cdef int size = ELEMENT_SIZE[element]
        if self.ascii and element > E_CHAR:
            for i in range(count):
                if element <= E_LONG:
                    value = self.token_integer("an element")
                    self.check_element(element, value)
                    memcpy(target + i * size, &value, size)
                else:
                    self.put_real(element, target + i * size, self.token_double())
        elif element == E_LONG and self.long_size == 4:
            self.into(target, count * 4)
            for i in range(count - 1, -1, -1):       # from the end, because they are widened in place
                (<int64_t *>target)[i] = <int32_t>(
                    __builtin_bswap32((<uint32_t *>target)[i]) if self.swap else (<uint32_t *>target)[i]
                )
        else:
            large_pages(target, count * size)
            self.into(target, count * size)
            if self.swap:
                swap_bytes(target, count, size)
        if self.ascii and count:
            self.end_line()
        return 0

    cdef int put_real(self, int element, uint8_t *target, double value) except -1:
        cdef float single = <float>value
        if element == E_DOUBLE:
            memcpy(target, &value, 8)
        elif element == E_FLOAT:
            memcpy(target, &single, 4)
        else:
            try:
                PyFloat_Pack2(value, <char *>target, 1)
            except OverflowError:
                PyFloat_Pack2(copysign(INFINITY, value), <char *>target, 1)
        return 0


cdef void large_pages(uint8_t *target, int64_t count) noexcept:
    """Ask for large pages, which saves page faults. The system may refuse, which does no harm."""
    cdef uintptr_t first = (<uintptr_t>target + 4095) & ~<uintptr_t>4095
    if count >= HUGE:
        madvise(<void *>first, (<uintptr_t>target + <uintptr_t>count - first) & ~<uintptr_t>4095, MADV_HUGEPAGE)


cdef void swap_bytes(uint8_t *data, int64_t count, int size) noexcept:
    cdef int64_t i
    if size == 2:
        for i in range(count):
            (<uint16_t *>data)[i] = __builtin_bswap16((<uint16_t *>data)[i])
    elif size == 4:
        for i in range(count):
            (<uint32_t *>data)[i] = __builtin_bswap32((<uint32_t *>data)[i])
    elif size == 8:
        for i in range(count):
            (<uint64_t *>data)[i] = __builtin_bswap64((<uint64_t *>data)[i])
