"""A memory file that is mapped into this process: a writable buffer, mapped as long as the object lives."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.errno cimport EINTR, errno
from libc.stdint cimport uint64_t, uintptr_t
from posix.unistd cimport close

import os

cdef extern from *:
    """
    #ifndef _GNU_SOURCE
    #define _GNU_SOURCE
    #endif
    #include <fcntl.h>
    #include <stdint.h>
    #include <sys/mman.h>

    enum { wm_large_page = 2 << 20, wm_collapse = 25 }; /* MADV_COLLAPSE: not in every system's headers */

    /* Map the file so that its large pages can be large pages of the mapping, too. */
    static void *wm_map(int fd, uint64_t bytes) {
        uint64_t range = bytes + wm_large_page;
        void *found = mmap(0, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) return 0;
        char *first = (char *)found;
        uint64_t before = (wm_large_page - (uintptr_t)first % wm_large_page) % wm_large_page;
        void *base = mmap(first + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
        uint64_t end = (before + bytes + 4095) / 4096 * 4096;
        if (base == MAP_FAILED) {
            munmap(first, range);
            return 0;
        }
        if (before) munmap(first, before);
        if (end < range) munmap(first + end, range - end);
        return base;
    }
    static int wm_advise(void *at, uint64_t bytes, int advice) { return madvise(at, bytes, advice); }
    static int wm_unmap(void *at, uint64_t bytes) { return munmap(at, bytes); }
    static int wm_allocate(int fd, uint64_t begin, uint64_t bytes) { return fallocate(fd, 0, begin, bytes); }
    """
    const int MADV_HUGEPAGE
    const int wm_collapse
    const uint64_t wm_large_page
    void *wm_map(int fd, uint64_t bytes) nogil
    int wm_advise(void *at, uint64_t bytes, int advice) nogil
    int wm_unmap(void *at, uint64_t bytes) nogil
    int wm_allocate(int fd, uint64_t begin, uint64_t bytes) nogil

cdef uint64_t STEP = 64 << 20  # an interrupted fallocate starts again: so it is called for parts of this size


cdef object system_error():
    return OSError(errno, os.strerror(errno))


cdef class Mapping:
    """A file, mapped as a whole; its first `nbytes` are the buffer. The mapping takes the descriptor over."""

    cdef object __weakref__
    cdef void *base
    cdef readonly int fd
    cdef readonly str name
    cdef readonly uint64_t nbytes  # size of the buffer
    cdef uint64_t mapped

    def __cinit__(self, int fd, str name not None, uint64_t nbytes, uint64_t mapped):
        self.fd = -1
        self.base = wm_map(fd, mapped)
        if self.base == NULL:
            raise system_error()
        self.fd = fd
        self.name = name
        self.nbytes = nbytes
        self.mapped = mapped
        wm_advise(self.base, mapped, MADV_HUGEPAGE)  # may fail on a system without large pages, which does not matter

    def __dealloc__(self):
        if self.base != NULL:
            wm_unmap(self.base, self.mapped)
        if self.fd >= 0:
            close(self.fd)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.base, self.nbytes, False, flags)

    @property
    def address(self):
        return <uintptr_t> self.base

    def allocate(self, uint64_t begin, uint64_t end):
        """Allocate memory for these bytes now."""
        cdef uint64_t part
        cdef int failed
        while begin < end:
            part = min(STEP, end - begin)
            with nogil:
                failed = wm_allocate(self.fd, begin, part)
            if not failed:
                begin += part
            elif errno != EINTR:
                raise system_error()

    def collapse(self, uint64_t begin, uint64_t end):
        """Turn these bytes into large pages where whole ones fit; False if the system does not do it for all."""
        cdef uint64_t first = (begin + wm_large_page - 1) // wm_large_page * wm_large_page
        cdef uint64_t last = min(end, self.mapped) // wm_large_page * wm_large_page
        cdef uint64_t at = first
        cdef int failed = 0
        if first >= last:
            return True
        with nogil:
            # A large page needs at least one page of memory there; the system adds zeros.
            while at < last and not failed:
                failed = wm_allocate(self.fd, at, 4096)
                at += wm_large_page
            if not failed:  # one call for all, as each call waits for all processors
                failed = wm_advise(<char *> self.base + first, last - first, wm_collapse)
        return not failed
