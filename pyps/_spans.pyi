__pyx_capi__: dict[str, object]  # the functions that _core calls
