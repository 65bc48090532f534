-- th.c as LuaJIT's FFI sees it, and the userdata that hold its structs.
local ffi = require 'ffi'

ffi.cdef [[
typedef struct storage {
   void *data; ptrdiff_t size; int refcount; char flag; void *allocator; void *allocatorContext; struct storage *view;
} storage;
typedef struct {
   int64_t *size, *stride; int nDimension; storage *storage; ptrdiff_t storageOffset; int refcount; char flag;
} tensor;
storage *th_storage_new(ptrdiff_t size, int itemsize);
storage *th_storage_over(void *data, ptrdiff_t size);
void th_storage_free(storage *);
int th_storage_resize(storage *, ptrdiff_t size, int itemsize);
tensor *th_tensor_new(void);
void th_tensor_free(tensor *);
int th_tensor_place(tensor *, storage *, ptrdiff_t offset, int n, const int64_t *size, const int64_t *stride,
                    int itemsize);
int th_run(const char *code, char *said, size_t room);
]]

local th = {
   C = ffi.load(package.searchpath('libtorch', package.cpath)),
   types = {
      Byte = 'uint8_t', Char = 'int8_t', Short = 'int16_t', Int = 'int32_t', Long = 'int64_t', Float = 'float',
      Double = 'double',
   },
}

local library = require 'libtorch'

function th.push(struct, metatable)
   return library.pointer(tonumber(ffi.cast('intptr_t', struct)), metatable)
end

function th.storage(object)
   return ffi.cast('storage**', object)[0]
end

function th.tensor(object)
   return ffi.cast('tensor**', object)[0]
end

-- Sizes or strides as C's: from numbers, a table or a LongStorage.
function th.longs(first, ...)
   local values = type(first) == 'number' and {first, ...} or type(first) == 'table' and first or first:totable()
   return #values, ffi.new('int64_t[?]', math.max(#values, 1), values)
end

-- Refuse with TH's own way of raising errors, which knows whose they are by the thread.
function th.check(fits, message)
   library.check(message, fits)
end

return th
