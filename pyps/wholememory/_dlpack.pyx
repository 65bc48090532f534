"""A DLPack capsule for memory at an address. The capsule, not the driver, says on which device the memory is.

If a range is mapped from several GPUs, the driver would name the GPU of its first page, but a rank needs its own GPU.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport calloc, free

cdef extern from *:
    """
    #include <stdint.h>
    /* DLPack's unversioned structures; declared here so that no header of torch or DLPack is needed. */
    typedef struct wm_managed {
        struct {
            void *data;
            struct { int32_t type, id; } device;
            int32_t ndim;
            struct { uint8_t code, bits; uint16_t lanes; } dtype;
            int64_t *shape, *strides;
            uint64_t byte_offset;
        } tensor;
        void *owner;
        void (*deleter)(struct wm_managed *);
        int64_t length;
    } wm_managed;
    static void wm_fill(wm_managed *m, void *data, int32_t type, int32_t id, int64_t length) {
        m->length = length;
        m->tensor.data = data;
        m->tensor.device.type = type;
        m->tensor.device.id = id;
        m->tensor.ndim = 1;
        m->tensor.dtype.code = 1; /* unsigned bytes */
        m->tensor.dtype.bits = 8;
        m->tensor.dtype.lanes = 1;
        m->tensor.shape = &m->length;
    }
    """
    ctypedef struct wm_managed:
        void *owner
        void (*deleter)(wm_managed *) noexcept
    void wm_fill(wm_managed *, void *data, int32_t kind, int32_t number, int64_t length)


cdef void drop(wm_managed *managed) noexcept with gil:
    Py_DECREF(<object> managed.owner)
    free(managed)


cdef void drop_unused(object capsule) noexcept:
    cdef wm_managed *managed
    if PyCapsule_IsValid(capsule, "dltensor"):  # a consumer that takes the tensor renames the capsule
        managed = <wm_managed *> PyCapsule_GetPointer(capsule, "dltensor")
        managed.deleter(managed)


def capsule_of(uintptr_t address, int64_t nbytes, int kind, int number, object owner):
    """Return a capsule of bytes on a device (kind 1 is the CPU, 2 CUDA) that keeps `owner` alive."""
    cdef wm_managed *managed = <wm_managed *> calloc(1, sizeof(wm_managed))
    if managed == NULL:
        raise MemoryError
    wm_fill(managed, <void *> address, kind, number, nbytes)
    managed.owner = <void *> owner
    managed.deleter = drop
    Py_INCREF(owner)
    return PyCapsule_New(managed, "dltensor", drop_unused)
