# Waits without the GIL. The core's calls come back now and then, so that signals are handled; a handler may raise.
cdef double shortest = 1e-9  # seconds
cdef double longest = 300.0  # seconds; the default of ps.h


cdef inline int limit(Wait *wait, object timeout, bint tells) except -1:
    """Set up a wait before its first call."""
    wait.limit = longest if timeout is None else seconds(timeout)
    wait.end = 0
    wait.is_begun = False
    wait.tells = tells
    return 0


cdef double monotonic() noexcept nogil:
    """Return the seconds of a clock that never goes back."""
    cdef timespec time
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec + time.tv_nsec * 1e-9


cdef bint prepare_call(Wait *wait, int32_t code) except -1:
    """Get ready to call the core, for the first time or again; return False if the last call has ended the wait.

    `code` is what the last call returned; before the first call, PS_EBUSY. Handles signals before each further call.
    """
    cdef double now
    if code != PS_EBUSY:
        wait.is_begun = False  # another operation may follow within the same time
        return False
    now = monotonic()
    if wait.end == 0:
        wait.end = now + wait.limit
    wait.left = max(wait.end - now, shortest)
    if not wait.is_begun:
        wait.is_begun = True
        return True
    PyErr_CheckSignals()
    if now >= wait.end and not wait.tells:
        raise_late(wait)
    return True


cdef int raise_late(const Wait *wait) except -1:
    """Raise the error for a wait that took too long: with the core's last message, and the timeout."""
    message = ps_last_error().message.decode("utf-8", "replace")
    raise WaitTimeoutError(f"{message} (timeout: {wait.limit:g} s)")


cdef int check_wait(int32_t code, const Wait *wait) except -1:
    """Raise the exception for a code of a call that may have waited."""
    if code == PS_ETIMEDOUT:
        raise_late(wait)
    return check(code)
