# numpy arrays and torch tensors as Lua tensors, and back, without a copy.
#
# A View describes the memory of an array. A br_block keeps the memory's owner alive as long as Lua or Python reads it.
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdlib cimport free, malloc

cdef extern from "boundary/dlpack.h":
    ctypedef struct DLDevice:
        int32_t device_type
    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor:
        void *data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct br_dlpack_api:
        pass
    const br_dlpack_api *br_dlpack_known(const br_dlpack_api *)
    int br_dlpack_read(const br_dlpack_api *, PyObject *, DLTensor *) except -1
    object br_dlpack_tensor(const br_dlpack_api *, br_block *, void *data, int dtype, int ndim, const int64_t *size,
                            const int64_t *stride)

cdef tuple TYPE_NAMES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double")
cdef list DTYPES = [numpy.dtype(name) for name in
                    ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")]
cdef type ndarray = numpy.ndarray
cdef type number_type = numpy.number
cdef type numpy_bool = numpy.bool_


@cython.final
cdef class Memory:
    """A block as a Python buffer of bytes. An array over it keeps the block alive."""
    cdef br_block *block
    cdef Py_ssize_t nbytes, stride

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        buffer.buf = self.block.data
        buffer.obj = self
        buffer.len = self.nbytes
        buffer.itemsize = 1
        buffer.readonly = False
        buffer.ndim = 1
        buffer.format = NULL
        buffer.shape = &self.nbytes
        buffer.strides = &self.stride
        buffer.suboffsets = NULL
        buffer.internal = NULL

    def __dealloc__(self):
        br_block_release(self.block)


cdef Memory memory_of(br_block *block):
    cdef Memory memory = Memory.__new__(Memory)
    br_block_retain(block)
    memory.block = block
    memory.nbytes = block.nbytes
    memory.stride = 1
    return memory


cdef int refuse_dtype(object dtype, str way_out) except -1:
    raise TypeError(f"no Torch7 tensor type holds dtype {dtype}; {way_out}")


cdef inline int format_dtype(const char *format) noexcept:
    """The Torch7 type of a buffer's format; -1: none has it, -2: not in this machine's byte order."""
    cdef char c = format[0]
    if c == c'<' or c == c'=' or c == c'@':
        format += 1
        c = format[0]
    elif c == c'>' or c == c'!':
        return -2
    if c == 0 or format[1] != 0:
        return -1
    if c == c'd':
        return BR_DOUBLE
    if c == c'f':
        return BR_FLOAT
    if c == c'l' or c == c'q':
        return BR_LONG
    if c == c'i':
        return BR_INT
    if c == c'B' or c == c'?':
        return BR_BYTE
    if c == c'b':
        return BR_CHAR
    if c == c'h':
        return BR_SHORT
    if c == c'e':
        return BR_HALF
    return -1


cdef int view_numpy(object array, View *view) except -1:
    """Describe an array. It is copied first if it is read-only or has a layout that a Lua tensor cannot have."""
    cdef Py_buffer buffer
    cdef int d, dtype
    cdef bint copy = False
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT)
    except (ValueError, BufferError):
        refuse_dtype(array.dtype, "convert it with array.astype(...)")
    dtype = format_dtype(buffer.format)
    if dtype != -1:
        copy = buffer.readonly or dtype == -2 or <uintptr_t>buffer.buf % <uintptr_t>buffer.itemsize != 0
        for d in range(buffer.ndim):
            view.size[d] = buffer.shape[d]
            if buffer.strides[d] < 0 or buffer.strides[d] % buffer.itemsize != 0:
                copy = True
            else:
                view.stride[d] = buffer.strides[d] // buffer.itemsize
    view.data = buffer.buf
    view.ndim = buffer.ndim                               # numpy has at most MAX_DIMENSIONS
    view.dtype = dtype
    view.live = NULL
    view.live_nbytes = NULL
    PyBuffer_Release(&buffer)
    if dtype == -1:
        refuse_dtype(array.dtype, "convert it with array.astype(...)")
    if copy:
        return view_numpy(numpy.array(array, dtype=array.dtype.newbyteorder("="), order="C", subok=False), view)
    view.owner = <PyObject *>array
    Py_INCREF(array)
    return 0


cdef int dlpack_dtype(DLDataType dtype) noexcept:
    """The Torch7 type of a DLPack dtype; -1: none has it."""
    if dtype.lanes != 1:
        return -1
    if dtype.code == 2:                                   # kDLFloat
        return BR_FLOAT if dtype.bits == 32 else BR_DOUBLE if dtype.bits == 64 else BR_HALF if dtype.bits == 16 else -1
    if dtype.code == 0:                                   # kDLInt
        return (BR_LONG if dtype.bits == 64 else BR_INT if dtype.bits == 32 else BR_SHORT if dtype.bits == 16
                else BR_CHAR if dtype.bits == 8 else -1)
    return BR_BYTE if (dtype.code == 1 or dtype.code == 6) and dtype.bits == 8 else -1    # kDLUInt, kDLBool


cdef int view_torch(object tensor, View *view) except -1:
    """Describe a torch tensor on the CPU. The View refers to its whole storage, so that Lua sees it when that grows."""
    cdef DLTensor read
    cdef int d, dtype
    cdef uintptr_t *storage_words
    cdef char *start
    cdef ptrdiff_t itemsize
    if tensor.requires_grad:
        refuse_grad()
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    try:
        br_dlpack_read(dlpack, <PyObject *>tensor, &read)
    except Exception as reason:
        refuse_layout(tensor, reason)
    if read.device.device_type != 1:                      # kDLCPU
        refuse_layout(tensor, None)
    dtype = dlpack_dtype(read.dtype)
    if dtype < 0:
        refuse_dtype(tensor.dtype, "convert it with tensor.to(...)")
    if read.ndim > MAX_DIMENSIONS:
        refuse_dimensions(read.ndim)
    itemsize = br_element_size(dtype)
    view.dtype = dtype
    view.ndim = read.ndim
    for d in range(read.ndim):
        view.size[d] = read.shape[d]
        view.stride[d] = read.strides[d]
    view.data = <char *>read.data + read.byte_offset
    view.live = NULL
    view.live_nbytes = NULL
    if read.data == NULL and not has_no_element(view):
        refuse_memory(tensor, None)
    owner = tensor
    if storage_data_word >= 0:
        owner = tensor.untyped_storage()
        storage_words = <uintptr_t *><uintptr_t>owner._cdata
        start = <char *>storage_words[storage_data_word]
        if (<char *>view.data - start) % itemsize != 0:
            return view_torch(tensor.clone(), view)
        view.live = <void **>&storage_words[storage_data_word]
        view.live_nbytes = <int64_t *>&storage_words[storage_nbytes_word]
    else:
        tensor.detach().numpy()        # from now on resize_ refuses to move its storage
    view.owner = <PyObject *>owner
    Py_INCREF(owner)
    return 0


cdef int refuse_grad() except -1:
    raise TypeError("a torch tensor that requires grad is not shared with Lua, whose writes autograd would not see; "
                    "pass tensor.detach()")


cdef int refuse_layout(object tensor, object reason) except -1:
    if tensor.device.type == "meta":
        refuse_memory(tensor, reason)
    if tensor.is_nested:
        raise TypeError("a nested torch tensor has no one shape and no Lua form; pass the list tensor.unbind(), or "
                        "torch.nested.to_padded_tensor(...)") from reason
    if tensor.layout is torch.strided and tensor.device.type == "cpu":
        if tensor.dtype in TORCH_DTYPES or tensor.dtype is torch.bool:
            refuse_memory(tensor, reason)
        refuse_dtype(tensor.dtype, "convert it with tensor.to(...)")
    raise TypeError(f"only strided tensors on the CPU or on a GPU are shared with Lua, got layout {tensor.layout} on "
                    f"device {tensor.device}; pass tensor.to_dense() or tensor.cpu()") from reason


cdef bint is_made_up(object tensor) except -1:
    """Whether a subclass of Tensor implements torch's operators itself: its memory may then mean anything."""
    return type(tensor) is not Tensor and type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__


cdef int refuse_memory(object tensor, object reason) except -1:
    raise TypeError(
        f"a {type(tensor).__name__} of shape {tuple(tensor.shape)} on device {tensor.device} has no elements in memory "
        "that Lua could read; pass a plain tensor (tensor.clone() of a zero tensor, tensor.full_tensor() of a "
        "DTensor); inside of torch.compile, torch.func and FakeTensorMode tensors have no memory") from reason


cdef int refuse_dimensions(int ndim) except -1:
    raise ValueError(f"a tensor of {ndim} dimensions has no Lua form (at most {MAX_DIMENSIONS}); "
                     "pass tensor.reshape(...)")


cdef object own_copy(object value):
    """An array in memory of its own; any other value as it is."""
    if isinstance(value, ndarray):
        return value.copy()
    return value.clone() if ready and isinstance(value, Tensor) else value


cdef bint has_no_element(View *view) noexcept:
    cdef int d
    for d in range(view.ndim):
        if view.size[d] == 0:
            return True
    return False


cdef int64_t view_nbytes(View *view) noexcept:
    """Bytes from the first element to the end of the last one."""
    cdef int d
    cdef int64_t extent = 1
    for d in range(view.ndim):
        extent += (view.size[d] - 1) * view.stride[d]
    return extent * <int64_t>br_element_size(view.dtype)


cdef br_block *block_of(State state, lua_State *L, PyObject *owner) noexcept:
    """The block that Lua already has over an owner's memory, or NULL. Gives no new reference."""
    cdef int top = lua.lua_gettop(L)
    cdef br_tensor *known
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.pinned.lent)
    br_push_address(L, owner)
    lua.lua_rawget(L, -2)
    known = <br_tensor *>lua.lua_touserdata(L, -1)
    lua.lua_settop(L, top)
    if known == NULL or known.storage == NULL or known.storage.block.drop.object != owner:
        return NULL
    return known.storage.block


cdef br_block *lent_block(State state, lua_State *L, View *view, void *start, int64_t nbytes) except NULL:
    """A reference to the block over a View's memory. The block takes over the View's owner.

    Memory that is passed to Lua several times has one block, so that its bytes are counted once.
    """
    cdef br_block *block = block_of(state, L, view.owner)
    if block != NULL and block.data == start and block.nbytes == nbytes:
        br_block_retain(block)
        Py_DECREF(<object>view.owner)
        return block
    br_relieve(L, state.heap, nbytes)
    block = br_block_lent(state.heap, start, nbytes, view.owner)
    if block == NULL:
        Py_DECREF(<object>view.owner)
        raise MemoryError("no memory for a tensor's storage")
    return block


cdef br_storage *view_storage(State state, lua_State *L, View *view, ptrdiff_t *offset) except NULL:
    """A storage over a View's memory; its block takes over the View's owner. `offset`: of the first element."""
    cdef int64_t nbytes = view_nbytes(view)
    cdef int64_t itemsize = br_element_size(view.dtype)
    cdef void *start = view.data
    cdef br_block *block
    cdef br_storage *storage
    offset[0] = 0
    if view.live != NULL:
        start = view.live[0]
        offset[0] = (<char *>view.data - <char *>start) // itemsize
        nbytes = view.live_nbytes[0]
    block = lent_block(state, L, view, start, nbytes)
    storage = br_storage_over(block, state.heap, view.dtype, nbytes // itemsize, view.live, view.live_nbytes)
    if storage == NULL:
        br_block_release(block)
        raise MemoryError("no memory for a tensor's storage")
    return storage


cdef object tensor_value(br_tensor *tensor, bint as_torch):
    """A Lua tensor as a numpy array, or as a torch tensor, over the same memory."""
    if tensor.nDimension == 0 or tensor.storage == NULL:
        return torch.empty(0, dtype=TORCH_DTYPES[tensor.dtype]) if as_torch else numpy.empty(0, DTYPES[tensor.dtype])
    if not br_tensor_covered(tensor):
        raise ValueError(f"the memory behind a {TYPE_NAMES[tensor.dtype]}Tensor no longer covers it: its storage was "
                         "made smaller by its owner")
    return shared_value(tensor.storage, tensor.dtype, tensor.storageOffset, tensor.nDimension, tensor.size,
                        tensor.stride, as_torch)


cdef object storage_value(br_storage *storage, bint as_torch):
    cdef int64_t size = storage.size
    cdef int64_t stride = 1
    return shared_value(storage, storage.dtype, 0, 1, &size, &stride, as_torch)


cdef object shared_value(br_storage *storage, int dtype, ptrdiff_t offset, int ndim, int64_t *size, int64_t *stride,
                         bint as_torch):
    cdef br_block *block = storage.block
    cdef ptrdiff_t itemsize = br_element_size(dtype)
    cdef char *first = <char *>storage.live[0] + offset * itemsize
    cdef int d
    if block.drop.object != NULL and storage.live != &storage.data:
        # torch owns the memory and may move it. A torch view follows such a move, and numpy() prevents it.
        shared = torch.empty(0, dtype=TORCH_DTYPES[dtype]).set_(
            <object>block.drop.object, offset, [size[d] for d in range(ndim)], [stride[d] for d in range(ndim)])
        return shared if as_torch else shared.numpy()
    if as_torch:
        return br_dlpack_tensor(dlpack, block, first, dtype, ndim, size, stride)
    start = first - <char *>block.data
    if ndim == 1:
        return ndarray((size[0],), DTYPES[dtype], memory_of(block), start, (stride[0] * itemsize,))
    return ndarray(tuple([size[d] for d in range(ndim)]), DTYPES[dtype], memory_of(block), start,
                   tuple([stride[d] * itemsize for d in range(ndim)]))
