# Tensors on a device, without a copy: torch's handles are passed in both directions; in Python they are torch tensors.
import weakref

from cpython.pycapsule cimport PyCapsule_New

cdef extern from "core/tensors/device.h":
    int BR_DEVICE
    void *br_device_view(const br_storage *, int, const int64_t *, const int64_t *, int64_t) nogil
    void *br_device_adopt(void *, int64_t) nogil
    void *br_device_address(void *) nogil
    int br_device_hidden(void *) nogil

cdef extern from "core/tensors/shim.h":
    const char *br_torch_error() nogil

# If the CPU simulates the device (MOONTIDE_CUDA=cpu): the memory of tensors that Lua returned from it, by its address
# in torch. By this table such a tensor is recognised when it is passed to Lua again.
cdef object came_from_device = weakref.WeakValueDictionary()


cdef bint is_on_device(object tensor) except -1:
    if tensor.is_cuda:
        return True
    if not came_from_device or tensor.layout is not torch.strided:
        return False
    try:
        return tensor.untyped_storage()._cdata in came_from_device
    except NotImplementedError:          # a tensor of torch.func has no storage
        return False


cdef int push_device_tensor(State state, lua_State *L, object tensor) except -1:
    cdef View view
    cdef br_tensor *bare
    cdef br_storage *storage = NULL
    cdef int64_t itemsize
    cdef int d
    if state.foreign:
        raise TypeError("a real Torch7 without its own cutorch has no tensors on a GPU; pass tensor.cpu()")
    if tensor.requires_grad:
        refuse_grad()
    if tensor.layout is not torch.strided:
        refuse_layout(tensor, None)
    if tensor.dtype is torch.bool:
        tensor = tensor.view(torch.uint8)
    if tensor.dtype not in TORCH_DTYPES:
        refuse_dtype(tensor.dtype, "convert it with tensor.to(...)")
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    state.need_device(L)
    if tensor.ndim == 0:
        return push_value(state, L, tensor.item(), 0)
    if tensor.ndim > MAX_DIMENSIONS:
        refuse_dimensions(tensor.ndim)
    bare = bare_tensor(L)
    view.dtype = TORCH_DTYPES.index(tensor.dtype) + BR_DEVICE
    view.ndim = tensor.ndim
    for d in range(view.ndim):
        view.size[d] = tensor.shape[d]
        view.stride[d] = tensor.stride(d)
    owner = tensor.untyped_storage()
    view.owner = <PyObject *>owner
    if has_no_element(&view):
        view.ndim = 0
    else:
        itemsize = br_element_size(view.dtype)
        storage = device_storage(state, L, &view, tensor, owner, owner.nbytes() // itemsize)
    return place_tensor(state, L, &view, bare, storage, tensor.storage_offset())


cdef br_storage *device_storage(State state, lua_State *L, View *view, object tensor, object owner,
                                int64_t size) except NULL:
    """A storage over all memory of a tensor. Memory that Lua has already keeps its block."""
    cdef br_block *block = block_of(state, L, view.owner)
    cdef br_storage *storage
    cdef void *handle
    cdef int64_t nbytes = size * <int64_t>br_element_size(view.dtype)
    if block != NULL and block.nbytes == nbytes:
        br_block_retain(block)
    else:
        whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(owner, 0, (size,), (1,))
        handle = PyCapsule_GetPointer(torch._C._aoti.unsafe_alloc_void_ptr_from_tensor(whole), NULL)
        handle = br_device_adopt(handle, size)
        if handle == NULL:
            raise RuntimeError(br_torch_error().decode(errors="replace"))
        br_relieve(L, state.heap, nbytes)
        Py_INCREF(owner)
        block = br_block_device(state.heap, br_device_address(handle), nbytes, handle, <void *>owner)
        if block == NULL:
            Py_DECREF(owner)
            br_torch.delete_tensor_object(handle)
            raise MemoryError("no memory for a tensor's storage")
    storage = br_storage_over(block, state.heap, view.dtype, size, NULL, NULL)
    if storage == NULL:
        br_block_release(block)
        raise MemoryError("no memory for a tensor's storage")
    return storage


cdef object device_value(State state, br_storage *storage, int dtype, ptrdiff_t offset, int ndim, const int64_t *size,
                         const int64_t *stride):
    """A view of a storage on a device as a torch tensor over the same memory."""
    cdef void *handle
    cdef bint hidden
    if storage == NULL or ndim == 0:
        return torch.empty(0, dtype=TORCH_DTYPES[dtype - BR_DEVICE], device="cuda" if state.heap.device else "cpu")
    handle = br_device_view(storage, ndim, size, stride, offset)
    if handle == NULL:
        raise ValueError(br_torch_error().decode(errors="replace"))
    hidden = br_device_hidden(handle)
    tensor = torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(PyCapsule_New(handle, NULL, NULL))
    if hidden:
        owner = tensor.untyped_storage()
        came_from_device[owner._cdata] = owner
    return tensor
