"""Borrow the memory of arrays without a copy.

The memory of a numpy array, a torch tensor or another buffer is used as it is if it is on the CPU, contiguous, aligned,
and writable where that is needed. For everything else pyps.arrays makes a converted copy, or an error with the reason.
"""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer,
)
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t

from numpy import ndarray
from numpy.ma import MaskedArray

from pyps import arrays, tensors

cdef extern from *:
    """
    /* DLPack's C exchange API, version 1; declared here so that no header of torch or DLPack is needed. */
    #include <Python.h>
    #include <stdint.h>
    typedef struct { int32_t type, id; } pyps_dldevice;
    typedef struct { uint8_t code, bits; uint16_t lanes; } pyps_dldtype;
    typedef struct { uint32_t major, minor; } pyps_dlversion;
    typedef struct {
        void *data;
        pyps_dldevice device;
        int32_t ndim;
        pyps_dldtype dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } pyps_dltensor;
    typedef struct {
        pyps_dlversion version;
        void *previous, *allocate, *export_managed, *import_managed;
        int (*borrow)(void *object, pyps_dltensor *tensor); /* valid while the object lives */
        void *stream;
    } pyps_dlpack_api;
    """
    ctypedef struct DLDevice "pyps_dldevice":
        int32_t type
    ctypedef struct DLDtype "pyps_dldtype":
        int code
        int bits
        int lanes
    ctypedef struct DLTensor "pyps_dltensor":
        void *data
        DLDevice device
        int32_t ndim
        DLDtype dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct DLVersion "pyps_dlversion":
        int major
    ctypedef struct DLExchange "pyps_dlpack_api":
        DLVersion version
        int (*borrow)(void *object, DLTensor *tensor) except? -1

# The type of the last tensor, its DLPack interface, and torch's functions for it (None for another library's type).
cdef object tensor_type = None
cdef object is_negated = None
cdef object raise_version = None
cdef DLExchange *tensor_api = NULL


cdef int format_code(const char *format) noexcept:
    """Return the kind of element of a buffer format, if it is a single native number."""
    if format == NULL:
        return UNSIGNED
    if format[0] in b"@=<":
        format += 1
    if format[0] == 0 or format[1] != 0:
        return UNKNOWN
    if format[0] in b"efd":
        return FLOAT
    if format[0] in b"bhilqn":
        return INTEGER
    if format[0] in b"BHILQN":
        return UNSIGNED
    if format[0] == b"?":
        return BOOLEAN
    return UNKNOWN


cdef DLExchange *exchange_of(object value):
    """Find the DLPack interface of a tensor's type; NULL if it has none."""
    global tensor_type, tensor_api, is_negated, raise_version
    cdef DLExchange *api
    kind = type(value)
    if kind is tensor_type:
        return tensor_api
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if capsule is None or tensors.is_made_up(kind):
        return NULL
    api = <DLExchange *> PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
    if api.version.major != 1:
        return NULL
    is_negated, raise_version = tensors.functions_of(kind)
    tensor_type, tensor_api = kind, api
    return api


cdef bint open_tensor(object value, bint writable, Span *span) except -1:
    cdef DLExchange *api = exchange_of(value)
    cdef DLTensor tensor
    cdef int64_t elements = 1
    cdef bint contiguous = True
    cdef int axis
    if api == NULL:
        return False
    try:
        api.borrow(<void *> value, &tensor)
    except Exception:
        return False  # a tensor without memory of its own: pyps.arrays raises the error
    if tensor.device.type != CPU or tensor.dtype.lanes != 1:
        return False
    for axis in range(tensor.ndim - 1, -1, -1):
        if tensor.strides != NULL and tensor.shape[axis] > 1 and tensor.strides[axis] != elements:
            contiguous = False
        elements *= tensor.shape[axis]
    if elements and not contiguous:
        return False
    if writable and value.requires_grad:
        return False
    if is_negated is not None and tensor.dtype.code == FLOAT and is_negated(value):
        return False  # its memory has the elements with the other sign
    span.data = <char *> tensor.data + tensor.byte_offset
    span.elements = elements
    span.code = tensor.dtype.code
    span.bits = tensor.dtype.bits
    return True


cdef bint open_span(object value, bint writable, Span *span) except -1:
    """Borrow a value's memory if it can be used as it is; close_span gives it back."""
    cdef int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT
    span.exported = False
    if type(value) is not ndarray and isinstance(value, MaskedArray):
        return False  # pyps.arrays looks at its mask
    if not PyObject_CheckBuffer(value):
        if not open_tensor(value, writable, span):
            return False
    else:
        try:
            PyObject_GetBuffer(value, &span.buffer, flags | PyBUF_WRITABLE if writable else flags)
        except (BufferError, ValueError, TypeError):
            return False  # not contiguous, read-only or no plain type: pyps.arrays converts or refuses it
        span.exported = True
        span.data = span.buffer.buf
        span.elements = span.buffer.len // span.buffer.itemsize if span.buffer.itemsize else 0
        span.code = format_code(span.buffer.format)
        span.bits = <int> span.buffer.itemsize * 8
    if span.elements and (span.data == NULL or <uintptr_t> span.data % (span.bits // 8 if span.bits >= 8 else 1)):
        close_span(span)
        return False
    return True


cdef void close_span(Span *span) noexcept:
    if span.exported:
        span.exported = False
        PyBuffer_Release(&span.buffer)


cdef bint open_typed(object value, bint writable, int code, int bits, Span *span) except -1:
    if not open_span(value, writable, span):
        return False
    if span.code == code and span.bits == bits:
        return True
    close_span(span)
    return False


cdef bint can_move(object value) except -1:
    """Return whether a value may get other memory while it is in use: torch's `resize_` does that."""
    if PyObject_CheckBuffer(value) or exchange_of(value) == NULL or raise_version is None:
        return False
    return value.untyped_storage().resizable()


cdef int note_written(object value, const Span *span) except -1:
    """Tell autograd that a tensor's memory was written to."""
    if not span.exported and exchange_of(value) != NULL and raise_version is not None:
        raise_version((value,))
    return 0


cdef int open_keys(object keys, Span *span) except -1:
    """Borrow the keys, converted if need be. The span keeps a converted array alive."""
    if open_typed(keys, False, INTEGER, 64, span):
        return 0
    if not open_typed(arrays.as_keys(keys), False, INTEGER, 64, span):
        raise AssertionError("as_keys returned no int64 array")
    return 0
