# Where bytes are written to: a file descriptor, through a buffer, or memory. Binary and ascii files.

cdef enum:
    SINK_BUFFER = 1 << 18
    DIRECT = 1 << 16          # bytes from which data is written without the buffer


@cython.final
@cython.internal
cdef class Sink:
    cdef int fd               # -1: memory
    cdef uint8_t *buffer
    cdef int64_t have, size
    cdef readonly int64_t written
    cdef bint ascii, swap
    cdef int long_size

    def __cinit__(self, int fd, bint ascii, int long_size, bint swap):
        self.fd, self.ascii, self.long_size, self.swap = fd, ascii, long_size, swap
        self.size = SINK_BUFFER if fd >= 0 else 256
        self.buffer = <uint8_t *>malloc(self.size)
        if self.buffer == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.buffer)

    cdef int out(self, const uint8_t *data, int64_t count) except -1:
        cdef ssize_t done
        while count > 0:
            with nogil:
                done = write(self.fd, data, min(count, <int64_t>1 << 30))
            if done < 0:
                if errno == EINTR:
                    PyErr_CheckSignals()
                    continue
                PyErr_SetFromErrno(OSError)
            data += done
            count -= done
        return 0

    cdef int flush(self) except -1:
        if self.fd >= 0:
            self.out(self.buffer, self.have)
            self.have = 0
        return 0

    cdef uint8_t *room(self, int64_t count) except NULL:
        """Space for `count` bytes, which the caller fills. With a file, `count` must be less than SINK_BUFFER."""
        cdef uint8_t *buffer
        cdef int64_t size = self.size
        if self.have + count > self.size:
            if self.fd >= 0:
                self.flush()
            else:
                while size < self.have + count:
                    size *= 2
                buffer = <uint8_t *>realloc(self.buffer, size)
                if buffer == NULL:
                    raise MemoryError()
                self.buffer, self.size = buffer, size
        self.have += count
        self.written += count
        return self.buffer + self.have - count

    cdef int put(self, const void *data, int64_t count) except -1:
        if self.fd >= 0 and count >= DIRECT:
            self.flush()
            self.written += count
            return self.out(<const uint8_t *>data, count)
        memcpy(self.room(count), data, count)
        return 0

    cdef bytes content(self):
        return PyBytes_FromStringAndSize(<char *>self.buffer, self.have)

    # Values.

    cdef int text_integer(self, int64_t value, char end) except -1:
        cdef char[24] digits
        cdef int at = 24
        cdef uint64_t left = -<uint64_t>value if value < 0 else <uint64_t>value
        at -= 1
        digits[at] = end
        while True:
            at -= 1
            digits[at] = <char>(48 + left % 10)
            left //= 10
            if left == 0:
                break
        if value < 0:
            at -= 1
            digits[at] = c'-'
        return self.put(&digits[at], 24 - at)

    cdef int text_real(self, double value, int digits, char end) except -1:
        """Write a number as C's %.17g or %.9g would in the C locale."""
        cdef char *text
        if isnan(value):
            self.put(b"-nan" if signbit(value) else b"nan", 3 + signbit_of(value))
        elif value - value != 0:
            self.put(b"-inf" if value < 0 else b"inf", 3 + (value < 0))
        else:
            text = PyOS_double_to_string(value, c'g', digits, 0, NULL)
            try:
                self.put(text, strlen(text))
            finally:
                PyMem_Free(text)
        return self.put(&end, 1)

    cdef int integer(self, int64_t value) except -1:
        cdef uint32_t bits = <uint32_t>value
        if self.ascii:
            return self.text_integer(value, 10)
        if self.swap:
            bits = __builtin_bswap32(bits)
        memcpy(self.room(4), &bits, 4)
        return 0

    cdef int binary_long(self, int64_t value) except -1:
        cdef uint32_t bits = <uint32_t>value
        cdef uint64_t wide = <uint64_t>value
        if self.long_size == 4:
            if not -INT_MAX - 1 <= value <= INT_MAX:
                raise T7Error(f"{value} does not fit a long of 4 bytes: save with long_size=8")
            if self.swap:
                bits = __builtin_bswap32(bits)
            memcpy(self.room(4), &bits, 4)
        else:
            if self.swap:
                wide = __builtin_bswap64(wide)
            memcpy(self.room(8), &wide, 8)
        return 0

    cdef int longs(self, const int64_t *values, int64_t count) except -1:
        cdef int64_t i
        for i in range(count):
            if self.ascii:
                self.text_integer(values[i], 10 if i + 1 == count else 32)
            else:
                self.binary_long(values[i])
        return 0

    cdef int number(self, double value) except -1:
        cdef uint64_t bits
        if self.ascii:
            return self.text_real(value, 17, 10)
        memcpy(&bits, &value, 8)
        if self.swap:
            bits = __builtin_bswap64(bits)
        memcpy(self.room(8), &bits, 8)
        return 0

    cdef int raw(self, const void *data, int64_t count) except -1:
        """Write bytes; in the ascii form, a newline after them."""
        if count:
            self.put(data, count)
            if self.ascii:
                self.put(b"\n", 1)
        return 0

    cdef int string(self, const void *data, int64_t count) except -1:
        self.integer(count)
        return self.raw(data, count)

    cdef int elements(self, int element, const uint8_t *data, int64_t count) except -1:
        cdef int64_t i, value, chunk
        cdef int size = ELEMENT_SIZE[element]
        cdef uint8_t *target
        if element <= E_CHAR:
            return self.raw(data, count)
        if self.ascii:
            for i in range(count):
                self.text_element(element, data + i * size, 10 if i + 1 == count else 32)
        elif element == E_LONG and self.long_size == 4:
            for i in range(count):
                memcpy(&value, data + i * 8, 8)
                self.binary_long(value)
        elif self.swap:
            while count > 0:
                chunk = min(count, <int64_t>DIRECT // size)
                target = self.room(chunk * size)
                for i in range(chunk * size):
                    target[i] = data[i // size * size + size - 1 - i % size]
                data += chunk * size
                count -= chunk
        else:
            self.put(data, count * size)
        return 0

    cdef int text_element(self, int element, const uint8_t *data, char end) except -1:
        cdef int16_t short_value
        cdef int32_t int_value
        cdef int64_t long_value
        cdef float single
        cdef double value
        if element == E_SHORT:
            memcpy(&short_value, data, 2)
            return self.text_integer(short_value, end)
        if element == E_INT:
            memcpy(&int_value, data, 4)
            return self.text_integer(int_value, end)
        if element == E_LONG:
            memcpy(&long_value, data, 8)
            return self.text_integer(long_value, end)
        if element == E_DOUBLE:
            memcpy(&value, data, 8)
            return self.text_real(value, 17, end)
        if element == E_FLOAT:
            memcpy(&single, data, 4)
            return self.text_real(<double>single, 9, end)
        return self.text_real(PyFloat_Unpack2(<const char *>data, 1), 9, end)


cdef inline int signbit_of(double value) noexcept nogil:
    return 1 if signbit(value) else 0
