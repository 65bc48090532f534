# Tensors and storages of a real Torch7 installation. Their structs are read in place, and their memory stays alive
# while an array reads it (core/tensors/th_storage.h). bridge/runtime/foreign.lua makes new ones.
cdef extern from "core/tensors/th_storage.h":
    ctypedef struct br_th_storage:
        void *data
        ptrdiff_t size
    ctypedef struct br_th_tensor:
        int64_t *size
        int64_t *stride
        int nDimension
        br_th_storage *storage
        ptrdiff_t storageOffset
    br_block *br_th_share(br_th_storage *, int64_t, int *) nogil


# For every thread, TH keeps one Lua state: the one in which it raises errors and collects garbage. `here.answers` is
# the token of that state for this thread. `here.inside` is the state this thread is in; when the thread leaves a state
# that it entered from another one, TH is switched back to that one.
cdef object here = threading.local()


cdef int take_thread(State state) except -1:
    state.outer.append(getattr(here, "inside", None))
    try:
        answer_thread(state)
    except BaseException:
        state.outer.pop()
        raise
    here.inside = state
    return 0


cdef int return_thread(State state) except -1:
    cdef State outer = state.outer.pop()
    here.inside = outer
    if outer is not None:
        answer_thread(outer)
    return 0


cdef int answer_thread(State state) except -1:
    """Tell TH to use this state for this thread, unless it does so already."""
    cdef lua_State *L = state.current
    cdef int top
    if getattr(here, "answers", None) is state.token or L == NULL or "answer_thread" not in state.helpers:
        return 0
    top = lua.lua_gettop(L)
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.helpers["answer_thread"])
    if lua.lua_pcall(L, 0, 1, 0) != 0:
        raise_lua_error(state, L)
    if lua.lua_toboolean(L, -1):
        here.answers = state.token
    lua.lua_settop(L, top)
    return 0


cdef int push_foreign(State state, lua_State *L, View *view, object array) except -1:
    """Push a real Torch7's tensor over a View's memory. It takes over the View's owner."""
    cdef int64_t nbytes
    cdef br_block *block
    if view.ndim == 0:
        Py_DECREF(<object>view.owner)
        return push_value(state, L, array.item(), 0)
    if view.live != NULL:
        hold_still(view, array)
    nbytes = 0 if has_no_element(view) else view_nbytes(view)
    br_relieve(L, state.heap, nbytes)
    block = br_block_lent(state.heap, view.data, nbytes, view.owner)
    if block == NULL:
        Py_DECREF(<object>view.owner)
        raise MemoryError("no memory for a tensor's storage")
    try:
        make_foreign(state, L, view, nbytes // <int64_t>br_element_size(view.dtype), block)
    except BaseException:
        br_block_release(block)
        raise
    if nbytes == 0:
        br_block_release(block)
    return 0


cdef int hold_still(View *view, object tensor) except -1:
    """Make a numpy array the owner of a torch tensor's memory: torch does not move memory that numpy has seen."""
    owner = tensor.detach().numpy()
    Py_DECREF(<object>view.owner)
    Py_INCREF(owner)
    view.owner = <PyObject *>owner
    return 0


cdef int make_foreign(State state, lua_State *L, View *view, int64_t extent, br_block *block) except -1:
    """Push the tensor. It takes over the block, unless this raises."""
    cdef int top = lua.lua_gettop(L)
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.helpers["foreign_tensor"])
    lua.lua_pushnumber(L, view.dtype)
    br_push_address(L, view.data)
    lua.lua_pushnumber(L, extent)
    push_numbers(L, view.size, view.ndim)
    push_numbers(L, view.stride, view.ndim)
    br_push_address(L, block)
    if lua.lua_pcall(L, 6, 1, 0) != 0:
        raise_lua_error(state, L)
    lua.lua_insert(L, top + 1)
    lua.lua_settop(L, top + 1)
    return 0


cdef void push_numbers(lua_State *L, int64_t *numbers, int n) noexcept:
    cdef int i
    lua.lua_createtable(L, n, 0)
    for i in range(n):
        lua.lua_pushnumber(L, <double>numbers[i])
        lua.lua_rawseti(L, -2, i + 1)


cdef object foreign_tensor_value(State state, br_th_tensor *tensor, int dtype):
    """A real Torch7's tensor as an array."""
    if tensor.nDimension == 0 or tensor.storage == NULL:
        return empty_array(state, dtype, (0,))
    return foreign_view(state, tensor.storage, dtype, tensor.storageOffset, tensor.nDimension, tensor.size,
                        tensor.stride)


cdef object empty_array(State state, int dtype, tuple shape):
    return torch.empty(shape, dtype=TORCH_DTYPES[dtype]) if state.as_torch() else numpy.empty(shape, DTYPES[dtype])


cdef object foreign_storage_value(State state, br_th_storage *storage, int dtype):
    """A real Torch7's storage as an array with one dimension."""
    cdef int64_t size = storage.size
    cdef int64_t stride = 1
    return foreign_view(state, storage, dtype, 0, 1, &size, &stride)


cdef object foreign_view(State state, br_th_storage *storage, int dtype, ptrdiff_t offset, int ndim, int64_t *size,
                         int64_t *stride):
    """A view of a storage's memory as an array, which shares it, or is a copy if the memory cannot be kept alive."""
    cdef int shared, d
    cdef int64_t itemsize = br_element_size(dtype), last = offset
    cdef br_block *block
    cdef br_storage *over
    if ndim > MAX_DIMENSIONS:
        refuse_dimensions(ndim)
    for d in range(ndim):
        if size[d] == 0:
            return empty_array(state, dtype, tuple([size[k] for k in range(ndim)]))
        last += (size[d] - 1) * stride[d]
    if storage.data == NULL or last >= storage.size:
        raise ValueError(f"the memory behind a {TYPE_NAMES[dtype]}Tensor does not cover it: its storage has "
                         f"{storage.size} elements, it reaches to {last + 1}")
    block = br_th_share(storage, storage.size * itemsize, &shared)
    if block == NULL and shared:
        raise MemoryError("no memory for a tensor's storage")
    if block == NULL:
        block = br_block_given(storage.data, storage.size * itemsize, NULL)
    if block == NULL:
        raise MemoryError("no memory for a tensor's storage")
    over = br_storage_over(block, NULL, dtype, storage.size, NULL, NULL)
    if over == NULL:
        br_block_release(block)
        raise MemoryError("no memory for a tensor's storage")
    try:
        array = shared_value(over, dtype, offset, ndim, size, stride, state.as_torch())
        return array if shared else own_copy(array)
    finally:
        br_storage_release(over)
