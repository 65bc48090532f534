# Writing tensors and storages, and the indices by which a file refers to objects that it has already.


@cython.internal
cdef class Tensors:
    cdef Sink sink
    cdef Map indices                  # a hash of an object's address (`Region.name` for a storage) -> its index
    cdef int64_t count
    cdef list kept                    # objects with an index; kept alive, so that no address is used twice
    cdef dict moved                   # address of a CUDA storage -> its copy in main memory
    cdef object plain                 # turns a value of another type into one that can be written, or raises

    def __cinit__(self, Sink sink, plain):
        self.sink = sink
        self.plain = plain
        self.indices = Map()
        self.kept = []
        self.moved = {}

    @cython.final
    cdef bint begin(self, int kind, value) except -1:
        """Write a value's type and index. Returns whether the value itself must follow."""
        cdef uint64_t name = mix(<uintptr_t><PyObject *>value)
        cdef int64_t index = self.indices.get(name)
        self.sink.integer(kind)
        if index >= 0:
            self.sink.integer(index)
            return False
        self.kept.append(value)
        self.sink.integer(self.fresh(name))
        return True

    @cython.final
    cdef int64_t fresh(self, uint64_t name) except -1:
        if self.count == INT_MAX:
            raise T7Error(f"more than {INT_MAX} tables, tensors and objects: the format has no numbers for them")
        self.count += 1
        self.indices.put(name, self.count)
        return self.count

    @cython.final
    cdef int class_name(self, bytes name, version) except -1:
        cdef bytes text
        if version is not None:
            text = f"V {version}".encode()
            self.sink.string(PyBytes_AS_STRING(text), len(text))
        return self.sink.string(PyBytes_AS_STRING(name), len(name))

    @cython.final
    cdef int storage(self, int element, Region region, owner) except -1:
        """Write a storage, or the index of one that was written before."""
        cdef int64_t index = self.indices.get(region.name)
        self.sink.integer(T_TORCH)
        if index >= 0:
            return self.sink.integer(index)
        self.kept.append(owner)
        self.sink.integer(self.fresh(region.name))
        self.class_name(STORAGE_NAMES[element], 1)
        self.sink.longs(&region.count, 1)
        return self.sink.elements(element, region.data, region.count)

    @cython.final
    cdef int storage_alone(self, value) except -1:
        cdef object array, root
        array, root = self.memory(value.array)
        if array.ndim != 1 or not array.flags.c_contiguous:
            raise T7Error("a Storage is one array or tensor of one dimension whose elements lie side by side")
        element = ELEMENT_OF[array.dtype]
        return self.storage(element, region_of(array, element), array)

    @cython.final
    cdef tuple memory(self, value):
        """An array of one of the format's element types, and the array that it is a view of."""
        cdef object array = value
        if hasattr(value, "untyped_storage"):
            return self.torch_memory(value)
        if not isinstance(value, numpy.ndarray) or isinstance(value, numpy.ma.MaskedArray):
            self.plain(value)
        if array.dtype not in ELEMENT_OF:
            if array.dtype == bool:
                array = array.view(numpy.uint8)
            elif array.dtype.newbyteorder("=") in ELEMENT_OF:
                array = array.astype(array.dtype.newbyteorder("="))
            else:
                raise T7Error(
                    f"an array of {array.dtype}: Torch7 has {', '.join(DTYPE_NAMES)}; convert it with astype()"
                )
        root = array
        base = root.base
        while base is not None:        # as_strided makes an intermediate object, whose base is the array
            if isinstance(base, numpy.ndarray):
                root = base
            elif not isinstance(getattr(base, "base", None), numpy.ndarray):
                break
            base = base.base
        if hasattr(root.base, "untyped_storage"):       # an array over a tensor's memory
            root = self.torch_memory(root.base)[1]
        if root.dtype.kind not in "buif":
            root = array
        return array, root

    @cython.final
    cdef tuple torch_memory(self, tensor):
        cdef object torch = sys.modules["torch"]
        if str(tensor.dtype).removeprefix("torch.") not in (*DTYPE_NAMES, "bool") or tensor.layout != torch.strided:
            raise T7Error(
                f"a tensor of {tensor.dtype} and layout {tensor.layout}: Torch7 has dense {', '.join(DTYPE_NAMES)}; "
                "convert it with to()"
            )
        tensor = tensor.detach()
        if tensor.dtype == torch.bool:
            tensor = tensor.view(torch.uint8)
        storage = tensor.untyped_storage()
        if tensor.device.type != "cpu":
            storage = self.moved.setdefault(storage.data_ptr(), storage.cpu())
            tensor = torch.empty(0, dtype=tensor.dtype).set_(
                storage, tensor.storage_offset(), tensor.size(), tensor.stride()
            )
        return tensor.numpy(), torch.empty(0, dtype=tensor.dtype).set_(storage).numpy()

    @cython.final
    cdef int tensor(self, value) except -1:
        """Write an array or a tensor with at least one dimension."""
        cdef Geometry shape
        cdef Region region
        cdef int element
        cdef int64_t offset
        cdef object array, root
        if self.indices.get(mix(<uintptr_t><PyObject *>value)) >= 0:
            self.begin(T_TORCH, value)
            return 0
        array, root = self.memory(value)
        element = ELEMENT_OF[array.dtype]
        if not geometry(array, &shape):
            root = array = numpy.ascontiguousarray(array)
            geometry(array, &shape)
        region = region_of(root, element)
        offset = place_in(region, &shape, ELEMENT_SIZE[element])
        if offset < 0 and shape.ndim:        # not within the memory of its base
            root = array = numpy.array(array, order="C")
            geometry(array, &shape)
            region = region_of(root, element)
            offset = 0
        self.begin(T_TORCH, value)
        self.class_name(TENSOR_NAMES[element], 1)
        self.sink.integer(shape.ndim)
        self.sink.longs(shape.sizes, shape.ndim)
        self.sink.longs(shape.strides, shape.ndim)
        offset = max(offset, <int64_t>0) + 1
        self.sink.longs(&offset, 1)
        if shape.ndim == 0 and region.count == 0 and (array.base is None or not isinstance(value, numpy.ndarray)):
            return self.sink.integer(T_NIL)
        return self.storage(element, region, root)
