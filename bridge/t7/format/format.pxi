# Constants of the format: kinds of values, element types, and the classes that are not written as tables of fields.

cdef enum:
    T_NIL = 0
    T_NUMBER = 1
    T_STRING = 2
    T_TABLE = 3
    T_TORCH = 4
    T_BOOLEAN = 5
    T_FUNCTION = 6            # has no index
    T_OLD_FUNCTION = 7        # its upvalues are plain values
    T_NEW_FUNCTION = 8        # its upvalues have names and ids

cdef enum:
    E_BYTE, E_CHAR, E_SHORT, E_INT, E_LONG, E_HALF, E_FLOAT, E_DOUBLE, ELEMENTS

cdef enum:
    C_TENSOR, C_STORAGE, C_GENERATOR, C_VEC, C_HASH

cdef enum:
    MAX_DIMENSIONS = 64       # numpy's limit
    GENERATOR_BYTES = 5048    # the struct with a `long` of 8 bytes
    GENERATOR_BYTES_4 = 2544

cdef int64_t INT_MAX = 2147483647
cdef double EXACT = 9007199254740992.0

cdef int[8] ELEMENT_SIZE = [1, 1, 2, 4, 8, 2, 4, 8]
cdef tuple ELEMENT_NAMES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double")
cdef tuple DTYPE_NAMES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
cdef list DTYPES = [numpy.dtype(name) for name in DTYPE_NAMES]
cdef dict ELEMENT_OF = {dtype: element for element, dtype in enumerate(DTYPES)}


cdef dict known_classes():
    """Class name -> (kind, element type); CUDA's names mean the same elements in main memory."""
    known = {b"torch.Generator": (C_GENERATOR, 0), b"tds.Vec": (C_VEC, 0), b"tds.Hash": (C_HASH, 0)}
    for element, name in enumerate(ELEMENT_NAMES):
        for prefix in ("torch.", "torch.Cuda"):
            known[f"{prefix}{name}Tensor".encode()] = (C_TENSOR, element)
            known[f"{prefix}{name}Storage".encode()] = (C_STORAGE, element)
    known[b"torch.CudaTensor"] = (C_TENSOR, E_FLOAT)
    known[b"torch.CudaStorage"] = (C_STORAGE, E_FLOAT)
    return known


cdef dict CLASSES = known_classes()
cdef tuple TENSOR_NAMES = tuple(f"torch.{name}Tensor".encode() for name in ELEMENT_NAMES)
cdef tuple STORAGE_NAMES = tuple(f"torch.{name}Storage".encode() for name in ELEMENT_NAMES)
PART_KINDS = ("object", "int", "long", "short", "byte", "char", "bool", "float", "double")


cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")     # random: nobody can make a file whose keys collide


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """A hash of a number's 64 bits (the finaliser of splitmix64)."""
    x ^= SEED
    x = (x ^ (x >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    x = (x ^ (x >> 27)) * <uint64_t>0x94d049bb133111eb
    return x ^ (x >> 31)


cdef struct Entry:
    uint64_t key
    int64_t value       # -1: empty


@cython.final
@cython.internal
cdef class Map:
    """A map from 64-bit keys to numbers from 0 on: a hash table with open addressing, at most half full.

    Two common cases are faster. As long as the keys 1, 2, 3 ... arrive with the numbers 0, 1, 2 ..., as the indices of
    most files do, only their count is kept. Other small keys in nearly ascending order are kept in an array.
    """
    cdef uint64_t plain               # the keys 1 .. plain have the numbers 0 .. plain - 1, unless they were put again
    cdef Entry *entries
    cdef int64_t *dense
    cdef uint64_t dense_size, dense_count
    cdef uint64_t mask
    cdef uint64_t count

    def __cinit__(self):
        self.entries = self.fresh(64)
        self.mask = 63

    def __dealloc__(self):
        free(self.entries)
        free(self.dense)

    cdef Entry *fresh(self, uint64_t size) except NULL:
        cdef Entry *entries = <Entry *>malloc(size * sizeof(Entry))
        if entries == NULL:
            raise MemoryError()
        memset(entries, 0xff, size * sizeof(Entry))
        return entries

    cdef inline Entry *find(self, uint64_t key) noexcept:
        cdef uint64_t at = mix(key) & self.mask
        while self.entries[at].value != -1 and self.entries[at].key != key:
            at = (at + 1) & self.mask
        return &self.entries[at]

    cdef inline int64_t get(self, uint64_t key) noexcept:
        """The key's number, or -1."""
        if key < self.dense_size and self.dense[key] != -1:
            return self.dense[key]
        if self.count and self.find(key).value != -1:
            return self.find(key).value
        return <int64_t>key - 1 if 0 < key <= self.plain else -1

    cdef int put(self, uint64_t key, int64_t value) except -1:
        cdef Entry *old
        cdef Entry *entry
        cdef uint64_t i, size
        cdef int64_t *dense
        if key == self.plain + 1 and value == <int64_t>self.plain and not self.dense_count and not self.count:
            self.plain += 1
            return 0
        if key <= 2 * (self.plain + self.dense_count) + 64:
            if key >= self.dense_size:
                size = 4 * (self.plain + self.dense_count) + 256
                dense = <int64_t *>realloc(self.dense, size * sizeof(int64_t))
                if dense == NULL:
                    raise MemoryError()
                memset(dense + self.dense_size, 0xff, (size - self.dense_size) * sizeof(int64_t))
                self.dense, self.dense_size = dense, size
            self.dense_count += 1
            self.dense[key] = value
            return 0
        if self.count * 2 > self.mask:
            size = self.mask + 1
            old = self.entries
            self.entries = self.fresh(size * 4)
            self.mask = size * 4 - 1
            for i in range(size):
                if old[i].value != -1:
                    self.find(old[i].key)[0] = old[i]
            free(old)
        entry = self.find(key)
        self.count += entry.value == -1
        entry.key = key
        entry.value = value
        return 0
