"""Torch7's file format: bytes to Python values and back, without Lua and without running anything.

A file is read twice: a scan checks all of it and finds which tables are lists, then the values are made. Reading and
writing do not recurse, so deeply nested values need memory but no stack. Reading never allocates memory for a count
that the rest of the file is too short for.
"""
cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBUF_STRIDED_RO, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_Next, PyDict_SetItem
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.list cimport PyList_GET_SIZE, PyList_SetItem
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF, PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.errno cimport EINTR, errno
from libc.math cimport INFINITY, NAN, copysign, isnan, signbit
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
)
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove, memset, strlen, strncmp
from posix.types cimport off_t

import os
import sys

import numpy

from bridge.t7.objects import Key, Storage, T7Error, TorchFunction, TorchObject

cdef extern from "<unistd.h>" nogil:
    ssize_t pread(int fd, void *target, size_t count, off_t offset)
    ssize_t write(int fd, const void *data, size_t count)

cdef extern from "<sys/mman.h>" nogil:
    int madvise(void *start, size_t count, int advice)
    int MADV_HUGEPAGE

cdef extern from *:
    uint16_t __builtin_bswap16(uint16_t value) nogil
    uint32_t __builtin_bswap32(uint32_t value) nogil
    uint64_t __builtin_bswap64(uint64_t value) nogil

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0
    char *PyOS_double_to_string(double value, char form, int digits, int flags, int *kind) except NULL
    void PyMem_Free(void *memory)
    int PyFloat_Pack2(double value, char *target, int little) except -1
    double PyFloat_Unpack2(const char *source, int little) except? -1.0
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    const char *PyUnicode_1BYTE_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    bint PyGC_Disable()
    bint PyGC_Enable()

include "format/format.pxi"
include "format/source.pxi"
include "format/arrays.pxi"
include "format/frames.pxi"
include "format/tables.pxi"
include "format/plain.pxi"
include "format/objects.pxi"
include "format/read.pxi"
include "format/load.pxi"
include "format/sink.pxi"
include "format/regions.pxi"
include "format/tensors.pxi"
include "format/write.pxi"
