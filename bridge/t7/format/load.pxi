# A whole file: its form found out, scanned, built.


def read(where, str name, *, int64_t size=0, int long_size=0, str byteorder="auto", bint always_dict=False,
         dict layouts=None, torch=None, mapped=None, summary=None):
    """Read the first value of a file (its descriptor and size) or of bytes; `long_size` 0 finds it out."""
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
    collecting = PyGC_Disable()     # visiting what is made here, over and over, would take longer than making it
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
    """Check the whole value; where the size of `long` is not given, the one that reads the file to its end.

    What follows the value may be another's, but with the rarer size it rather means that the guess is wrong. Of a file
    that neither reads, the error is told of the size that found more objects. Where both found as many, it is 8, unless
    the first value read so is none that a file has: then it is two of 4 bytes.
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
