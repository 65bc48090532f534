# Reading a whole file: detect its form, scan it, build the value.


def read(where, str name, *, int64_t size=0, int long_size=0, str byteorder="auto", bint always_dict=False,
         dict layouts=None, torch=None, mapped=None, summary=None):
    """Read the first value of a file (a descriptor and its size) or of bytes. `long_size` 0: detect it."""
    cdef Source source = Source(where, name, size)
    cdef Reader reader = Reader(
        source, always_dict=always_dict, layouts=layouts or {}, torch=torch, mapped=mapped, summary=summary
    )
    cdef const uint8_t *first
    cdef bint collecting
    if source.size < 1:
        source.fail("the file is empty")
    first = source.take(min(4, source.size))
    source.ascii = first[0] > 8
    if not source.ascii:
        if source.size < 4:
            source.ended("a value's type")
        source.swap = byteorder == "big" or (
            byteorder == "auto" and first[0] == 0 and first[1] == 0 and first[2] == 0 and 0 < first[3] <= 8
        )
    source.native = not source.ascii and not source.swap
    scan(reader, long_size)
    collecting = PyGC_Disable()     # else the collector would visit the growing value again and again
    try:
        value = reader.walk(True)
    finally:
        if collecting:
            PyGC_Enable()
    if isinstance(value, TorchObject) and 0 < source.left() <= MAX_TAIL and reader.is_stranger(value):
        form = written_form(source.ascii, source.long_size, source.swap)
        object.__setattr__(value, "_tail", (form, source.raw_tail()))
    reader.forget()
    return value


cdef str written_form(bint ascii, int long_size, bint swap):
    return "ascii" if ascii else f"binary, {'big' if swap else 'little'}-endian, long of {long_size} bytes"


cdef int scan(Reader reader, int long_size) except -1:
    """Check the whole value, and find the size of `long` if it is not given: 8, or 4 if that reads the file to its end.

    More bytes may follow the value; with 4 bytes, the rarer size, that is taken to mean that the guess was wrong. If
    neither size can read the file, the error for the size that found more objects is raised. If both found equally
    many, it is that for 8, unless the first long of 8 bytes is so large that it must be two of 4 bytes.
    """
    cdef Source source = reader.source
    cdef bint fits = False
    cdef int64_t found = -1
    failure = None
    for size in [long_size] if long_size else [8] if source.ascii else [8, 4]:
        source.long_size = size
        try:
            reader.walk(False)
        except T7Error as error:
            if reader.slot_count > found:
                failure = error
                found = reader.slot_count - (size == 8 and source.first_long >> 32 != 0)
            continue
        if source.left() == 0 or long_size:
            return 0
        fits = fits or size == 8
    if not fits:
        raise failure
    if source.long_size == 4:
        source.long_size = 8
        reader.walk(False)
    return 0
