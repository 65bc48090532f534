# Texts as keys.
cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL


def hash_texts(list texts, keys):
    """Fill an int64 buffer with the keys that stand for texts.

    Parameters
    ----------
    texts : list of str or bytes
    keys : contiguous int64 buffer, writable, of as many elements

    Raises
    ------
    TypeError
        One is no text.
    ValueError
        A str cannot be encoded, or the lengths differ.
    """
    cdef Span span
    cdef Py_ssize_t size, position
    cdef const char *text
    open_plain(keys, True, INTEGER, 64, &span)
    try:
        if span.elements != len(texts):
            raise ValueError(f"{len(texts)} texts need as many keys, not {span.elements}")
        for position in range(len(texts)):
            one = texts[position]
            if isinstance(one, str):
                text = PyUnicode_AsUTF8AndSize(one, &size)
            elif isinstance(one, bytes):
                text, size = <bytes> one, len(<bytes> one)
            else:
                raise TypeError(f"keys must be texts, str or bytes, not {type(one).__name__} at position {position}")
            (<int64_t *> span.data)[position] = ps_text_key(text, size)
    finally:
        close_span(&span)
