"""The strict core: nodes and workers of ps.h, for contiguous typed buffers.

A method checks its arguments, makes one call (without the GIL if it may take long), and turns its code into an
exception.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, INT64_MAX, UINT64_MAX, int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from pyps._spans cimport (
    BFLOAT, FLOAT, INTEGER, UNSIGNED, Span, can_move, close_span, note_written, open_keys, open_span, open_typed,
)

import operator
from collections.abc import Iterable
from contextlib import suppress

from pyps import arrays, tensors
from pyps.errors import AttachError, ClosedError, NodeLost, WaitTimeoutError
from pyps.timestamps import ANSWERED, Pending, Timestamp

# An estimate of a call's work above which the GIL is released: about a microsecond. All three in nanoseconds.
cdef double worth_releasing = 1000.0
cdef double ns_per_key = 20.0
cdef double ns_per_byte = 0.1

# Seconds after which a wait comes back to look for signals, which another thread may have received.
cdef double signals_every = 0.05

if ps_abi_version() != PS_ABI_VERSION:
    raise ImportError(f"pyps was built for version {PS_ABI_VERSION} of libps, but version {ps_abi_version()} was found "
                      "beside it: build both again")


cdef int check(int32_t code) except -1:
    """Raise the exception for a code of ps.h."""
    cdef const ps_error *error
    if code == PS_OK:
        return 0
    error = ps_last_error()
    message = error.message.decode("utf-8", "replace")
    if code == PS_ENOMEM:
        raise MemoryError(message)
    if code == PS_ETIMEDOUT:
        raise WaitTimeoutError(message)
    if code == PS_ECLOSED:
        raise ClosedError(message)
    if code == PS_ELOST:
        raise NodeLost(message, node=error.value)
    if code == PS_EADDRESS:
        raise AttachError(message)
    if code == PS_ESYSTEM:
        raise OSError(error.value, message)
    if code == PS_EINVAL or code == PS_EKEY or code == PS_ESIZE:
        raise ValueError(message)
    raise RuntimeError(message)


cdef int64_t whole(object value, str name, int64_t most) except? -1:
    """Read an integer argument; the core checks its lower bound."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not -most <= number <= most:
        raise ValueError(f"{name} is {number}; at most {most} is possible")
    return number


cdef uint64_t number_of(object value, str name) except? 0:
    """Read an integer argument of 64 bits that has no sign."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not 0 <= number <= UINT64_MAX:
        raise ValueError(f"{name} is {number}; it must be in [0, {UINT64_MAX}]")
    return number


cdef double seconds(object given, str name="timeout") except -1:
    """Read a time; None is 0, which means the default."""
    cdef double value
    if given is None:
        return 0.0
    try:
        value = given
    except TypeError:
        raise TypeError(f"{name} must be a number of seconds, not {type(given).__name__}") from None
    if not isfinite(value) or value < 0:
        raise ValueError(f"{name} is {given!r}; it must be a number of seconds, or None for the default")
    return max(value, 1e-9)


cdef bytes encoded(object text, str name):
    """Encode a text for the core, which takes a NUL for its end."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{name} is {text!r}, which holds a NUL")
    return (<str> text).encode()


def read_optimizer(optimizer):
    """Check an optimizer like "adagrad:lr=0.1"; return it with all of its settings."""
    cdef char text[512]
    check(ps_read_optimizer(encoded(optimizer, "optimizer"), text, sizeof(text)))
    return text.decode()


def read_initializer(initializer):
    """Check an initializer like "normal:std=0.1"; return it with all of its settings, or "" for zeros."""
    cdef char text[512]
    check(ps_read_initializer(encoded(initializer, "initializer"), text, sizeof(text)))
    return text.decode()


def read_compression(compression):
    """Check a compression like "top_k:share=0.1"; return it with all of its settings, or "" for none."""
    cdef char text[512]
    check(ps_read_compression(encoded(compression, "compression"), text, sizeof(text)))
    return text.decode()


def load_zmq(path):
    """Open the ZeroMQ library that nodes use; only the first call in a process does so."""
    check(ps_load_zmq(encoded(path, "path")))


include "binding/waiting.pxi"
include "binding/member.pxi"
include "binding/node.pxi"
include "binding/requests.pxi"
include "binding/operations.pxi"
include "binding/existence.pxi"
include "binding/worker.pxi"
include "binding/sampling.pxi"
include "binding/rows.pxi"
include "binding/texts.pxi"


def latency_limits():
    """Return the ns that each count of `Node.latency_counts` and those before it stay below; the last has no limit."""
    return [ps_latency_limit(i) for i in range(PS_LATENCY_COUNTS)]
