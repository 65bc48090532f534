# Strings as str for what is Python's own use, in a state that gives programs bytes.

@cython.final
cdef class Texts:
    """What `State.texts` returns."""
    cdef State state

    def __init__(self, State state):
        self.state = state

    def __enter__(self):
        self.state.enter()
        self.state.text_forced += 1

    def __exit__(self, *exception):
        self.state.text_forced -= 1
        self.state.leave()
