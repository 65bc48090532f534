# Connecting to torch, when the program has imported it or Lua first needs it: the addresses of C functions in its
# library, and where its storages keep their memory.
cdef object torch = None
cdef object Tensor = None
cdef object UntypedStorage = None
cdef list TORCH_DTYPES = []
cdef const br_dlpack_api *dlpack = NULL
cdef int storage_data_word = -1      # where a StorageImpl has its data pointer and size, in 8-byte words; -1: unknown
cdef int storage_nbytes_word = -1
cdef bint ready = False              # all of the above is set; this is set last
cdef object reaching = threading.RLock()


cdef int use_torch() except -1:
    """Import torch and find its C functions and its DLPack exchange table, once.

    Raises ImportError if torch is not installed or lacks a function.
    """
    global torch, Tensor, UntypedStorage, TORCH_DTYPES, dlpack, ready
    cdef void *library
    cdef int i
    if ready:
        return 0
    module = import_torch()
    with reaching:
        if ready:
            return 0
        torch_support.check(module)
        dlpack = exchange_table(module)
        library = dlopen(torch_library(module).encode(), RTLD_LAZY | RTLD_NOLOAD)
        if library == NULL:
            raise ImportError(f"{torch_library(module)} is not what torch has loaded")
        names = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
        for i in range(8):
            br_torch.dtypes[i] = (<int32_t (*)() noexcept>required(library, f"aoti_torch_dtype_{names[i]}"))()
        br_torch.delete_tensor_object = <int32_t (*)(void *) noexcept nogil>required(
            library, "aoti_torch_delete_tensor_object")
        br_torch.create_tensor_from_blob = required(library, "aoti_torch_create_tensor_from_blob")
        br_parallel_with(required(library, "torch_parallel_for"))
        find_storage_layout(module)
        TORCH_DTYPES = [getattr(module, name) for name in names]
        UntypedStorage = module.UntypedStorage
        Tensor = module.Tensor
        torch = module
        ready = True
    return 0


cdef find_storage_layout(module):
    """Find the words of a StorageImpl that are its data pointer and size: by their values, before and after growth."""
    global storage_data_word, storage_nbytes_word
    storage = module.empty(1009, dtype=module.uint8).untyped_storage()
    cdef uintptr_t *words = <uintptr_t *><uintptr_t>storage._cdata
    cdef int k, data_word = -1, nbytes_word = -1
    for k in range(10):
        if words[k] == <uintptr_t>storage.data_ptr() and data_word < 0:
            data_word = k
        if words[k] == 1009:
            nbytes_word = k
    storage.resize_(2000003)
    if data_word >= 0 and nbytes_word >= 0 and words[data_word] == <uintptr_t>storage.data_ptr() \
            and words[nbytes_word] == 2000003:
        storage_data_word = data_word
        storage_nbytes_word = nbytes_word


cdef void *required(void *library, str name) except NULL:
    cdef void *symbol = dlsym(library, name.encode())
    if symbol == NULL:
        raise torch_support.without(sys.modules["torch"], name)
    return symbol


cdef const br_dlpack_api *exchange_table(module) except NULL:
    """torch's table for exchanging tensors, in the major version that dlpack.h declares."""
    cdef const br_dlpack_api *table
    capsule = getattr(module.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        raise torch_support.without(module, "table for exchanging tensors (Tensor.__dlpack_c_exchange_api__)")
    table = br_dlpack_known(<const br_dlpack_api *>PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"))
    if table == NULL:
        raise torch_support.without(module, "table for exchanging tensors of DLPack's major version 1")
    return table


cdef str torch_library(module):
    return os.path.join(os.path.dirname(module.__file__), "lib", "libtorch_cpu.so")


def load_torch():
    """Import torch, connect to it, and return the path of its library. Raises ImportError."""
    use_torch()
    return torch_library(torch)
