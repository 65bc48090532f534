# Strings as str for this package's own calls, in a state that returns bytes to programs.

@cython.final
cdef class Texts:
    """The context manager that `State.texts` returns."""
    cdef State state

    def __init__(self, State state):
        self.state = state

    def __enter__(self):
        self.state.enter()
        self.state.text_forced += 1

    def __exit__(self, *exception):
        self.state.text_forced -= 1
        self.state.leave()
