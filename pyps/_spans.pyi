__pyx_capi__: dict[str, object]  # what _core calls
