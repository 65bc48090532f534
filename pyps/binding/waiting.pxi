# Waits without the GIL: they come back now and then, so that signals are handled, which may end them.
cdef double shortest = 1e-9  # seconds
cdef double longest = 300.0  # as in ps.h, where a caller says nothing


cdef struct Wait:
    double left  # seconds
    double end  # of the clock; 0: it has not come back yet
    bint is_begun
    bint tells  # the call takes the seconds that are left, and fails by itself


cdef Wait wait_of(object timeout, bint tells, bint is_begun=False) except *:
    """Return a wait whose first call is still to come, or is done."""
    cdef Wait wait
    wait.left = seconds(timeout) or longest
    wait.end = 0
    wait.is_begun = is_begun
    wait.tells = tells
    return wait


cdef bint goes_on(Wait *wait, int32_t code) except -1:
    """Tell whether to call, for the first time or again; `code` is what came back, PS_EBUSY before the first time."""
    cdef double now
    if code != PS_EBUSY:
        wait.is_begun = False  # for another call within the same time
        return False
    if not wait.is_begun:
        wait.is_begun = True
        return True
    PyErr_CheckSignals()
    now = time.monotonic()
    if wait.end == 0:
        wait.end = now + wait.left - signals_every
    wait.left = max(wait.end - now, shortest)
    if now >= wait.end and not wait.tells:
        raise WaitTimeoutError(ps_last_error().message.decode("utf-8", "replace"))
    return True
