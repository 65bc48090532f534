# Tensors of a real Torch7 installation, reached by what its Lua side promises: data(), sizes and strides on the way
# out, XStorage(size, pointer) and TH's allocator hook on the way in (bridge/lua/foreign.lua).


@cython.final
cdef class ForeignOwner:
    """Keeps a real Torch7's tensor, and the Lua state that its memory belongs to, for an array in Python."""
    cdef object tensor
    cdef object runtime


cdef int push_foreign(State state, lua_State *L, View *view) except -1:
    """Leave a real Torch7's tensor over a View's memory on the stack; the View's owner goes with it."""
    cdef int top = lua.lua_gettop(L)
    cdef int64_t nbytes = view_nbytes(view)
    cdef br_block *block = br_block_lent(state.heap, view.data, nbytes, view.owner)
    if block == NULL:
        Py_DECREF(<object>view.owner)
        raise MemoryError("no memory for a tensor's storage")
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.helpers["foreign_tensor"])
    lua.lua_pushnumber(L, view.dtype)
    lua.lua_pushlightuserdata(L, view.data)
    lua.lua_pushnumber(L, 0 if has_no_element(view) else nbytes // <int64_t>br_element_size(view.dtype))
    push_numbers(L, view.size, view.ndim)
    push_numbers(L, view.stride, view.ndim)
    lua.lua_pushlightuserdata(L, block)
    if lua.lua_pcall(L, 6, 1, 0) != 0:
        state.raise_error(L)
    lua.lua_insert(L, top + 1)
    lua.lua_settop(L, top + 1)
    return 0


cdef void push_numbers(lua_State *L, int64_t *numbers, int n) noexcept:
    cdef int i
    lua.lua_createtable(L, n, 0)
    for i in range(n):
        lua.lua_pushnumber(L, <double>numbers[i])
        lua.lua_rawseti(L, -2, i + 1)


cdef object foreign_value(State state, lua_State *L, int index):
    """A real Torch7's tensor as an array; any other userdata by reference."""
    cdef int top = lua.lua_gettop(L), dtype
    cdef ForeignOwner owner
    cdef int64_t size[MAX_DIMENSIONS]
    cdef int64_t stride[MAX_DIMENSIONS]
    cdef int64_t extent = 1
    cdef int d, ndim
    cdef br_block *block
    cdef br_storage *storage
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.helpers["foreign_view"])
    lua.lua_pushvalue(L, index)
    if lua.lua_pcall(L, 1, 4, 0) != 0:
        state.raise_error(L)
    if lua.lua_type(L, top + 1) == LUA_TNIL:
        lua.lua_settop(L, top)
        return proxy_of(state, L, index, LuaObject)
    dtype = <int>lua.lua_tonumber(L, top + 1)
    address = lua.lua_tonumber(L, top + 2)
    ndim = min(<int>lua.lua_objlen(L, top + 3), MAX_DIMENSIONS)
    for d in range(ndim):
        lua.lua_rawgeti(L, top + 3, d + 1)
        lua.lua_rawgeti(L, top + 4, d + 1)
        size[d] = <int64_t>lua.lua_tonumber(L, -2)
        stride[d] = <int64_t>lua.lua_tonumber(L, -1)
        extent += (size[d] - 1) * stride[d]
        lua_pop(L, 2)
    lua.lua_settop(L, top)
    if ndim == 0:
        return torch.empty(0, dtype=TORCH_DTYPES[dtype]) if state.as_torch() else numpy.empty(0, DTYPES[dtype])
    owner = ForeignOwner.__new__(ForeignOwner)
    owner.tensor = proxy_of(state, L, index, LuaObject)
    owner.runtime = state.runtime
    Py_INCREF(owner)
    block = br_block_lent(NULL, <void *><uintptr_t>address, extent * <int64_t>br_element_size(dtype), <void *>owner)
    if block == NULL:
        Py_DECREF(owner)
        raise MemoryError("no memory for a tensor's storage")
    storage = br_storage_over(block, NULL, dtype, extent, NULL, NULL)
    if storage == NULL:
        br_block_release(block)
        raise MemoryError("no memory for a tensor's storage")
    try:
        return shared_value(storage, dtype, 0, ndim, size, stride, state.as_torch())
    finally:
        br_storage_release(storage)
