-- Tensors and storages as userdata: what an object is, making one, the memory behind it.
--
-- A tensor userdata is a br_tensor, a storage userdata holds a br_storage*. Only `dtypeof` and `storagetypeof` tell
-- whether a value may be cast to either: nothing else casts an object it was handed.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'

local C, cast = native.C, ffi.cast
local heap = native.heap
local newtensor, newstorage = native.newtensor, native.newstorage
local tensorpointer = ffi.typeof('br_tensor*')
local storagepointer = ffi.typeof('br_storage**')
local MINIMUM = 64 * 2^20 -- a heap this small is never collected for its tensors alone

local object = {
   dtypeof = {},            -- tensor metatable -> element type
   storagetypeof = {},      -- storage metatable -> element type
   metatables = {},         -- element type -> tensor metatable
   storagemetatables = {},  -- element type -> storage metatable
   tensor = tensorpointer,  -- tensor(userdata) is its br_tensor*
   scratch = ffi.new('int64_t[256]'), -- sizes, then strides, on their way into a tensor
}
local dtypeof, storagetypeof = object.dtypeof, object.storagetypeof
local metatables, storagemetatables = object.metatables, object.storagemetatables

-- A copy of a function (without upvalues) that LuaJIT compiles for itself: traces are specialised to the constants
-- of one prototype, which eight closures of the same function would share.
function object.specialise(factory)
   local copy = assert(loadstring(string.dump(factory), '=' .. debug.getinfo(factory, 'S').short_src))
   return setfenv(copy, getfenv(factory))
end

-- Mentions its arguments. LuaJIT forgets a variable after its last use and a pointer keeps no tensor alive, so a
-- function that works on pointers while something may be allocated ends with this.
function object.keep()
end

-- The element type of a tensor, or of a storage; nil for everything else.
function object.dtype(value)
   return dtypeof[getmetatable(value)]
end

function object.storagetype(value)
   return storagetypeof[getmetatable(value)]
end

function object.storage(userdata)
   return cast(storagepointer, userdata)[0]
end

-- An empty tensor.
function object.newtensor(dtype)
   return newtensor(metatables[dtype], dtype)
end

-- Elements of a storage that are really there: a foreign owner may have shrunk its memory.
function object.valid(storage)
   local there = storage.live_nbytes[0] / elements[storage.dtype].bytes
   return tonumber(there < storage.size and there or storage.size)
end

-- A userdata for a storage; it takes over one reference.
function object.wrapstorage(pointer)
   local userdata = newstorage(storagemetatables[pointer.dtype])
   cast(storagepointer, userdata)[0] = pointer
   return userdata
end

-- Free what Lua no longer reaches when `bytes` more would pass the limit; the limit follows what stays.
local function pressure(bytes)
   collectgarbage()
   local held = tonumber(heap.held) + bytes
   heap.limit = math.max(MINIMUM, 2 * held)
end

local function makeroom(bytes)
   if heap.held + bytes > heap.limit then
      pressure(bytes)
   end
end

local function outofmemory(dtype, size)
   collectgarbage()
   error(string.format('not enough memory: you tried to allocate %s (%.0f elements of type %s)',
      size * elements[dtype].bytes >= 2^30 and string.format('%.0fGB', size * elements[dtype].bytes / 2^30)
      or string.format('%.0f bytes', size * elements[dtype].bytes), size, elements[dtype].name), 0)
end

-- A br_storage* with one reference, uninitialised.
function object.allocate(dtype, size)
   if not (size >= 0 and size < 2^53) then
      outofmemory(dtype, size)
   end
   makeroom(size * elements[dtype].bytes)
   local pointer = C.br_storage_new(heap, dtype, size)
   if pointer == nil then
      collectgarbage() -- there may be room then, on a device above all
      pointer = C.br_storage_new(heap, dtype, size)
   end
   if pointer == nil then
      outofmemory(dtype, size)
   end
   return pointer
end

-- Storages over memory that a Lua value owns: it is kept until ours is the only reference left, to the memory as well,
-- which parts of a storage and arrays of Python share.
local lent = {}

local function sweep()
   local kept = {}
   for _, loan in ipairs(lent) do
      if loan.storage.refcount == 1 and loan.storage.block.refcount == 1 then
         C.br_storage_release(loan.storage)
      else
         kept[#kept + 1] = loan
      end
   end
   lent = kept
end

-- A br_storage* over `size` elements at `data`.
function object.lend(dtype, size, data, owner)
   sweep()
   local pointer = C.br_storage_borrow(heap, dtype, size, data)
   if pointer == nil then
      outofmemory(dtype, size)
   end
   if owner ~= nil then
      C.br_storage_retain(pointer)
      lent[#lent + 1] = {storage = pointer, owner = owner}
   end
   return pointer
end

local function resized(pointer, size, file)
   return (file and C.br_file_make_room(file, pointer, size) or not file and C.br_storage_resize(pointer, size)) == 0
end

-- Make a storage `size` elements long; they may be about to come from a file (a br_file).
function object.resizestorage(pointer, size, file)
   if not (size >= 0 and size < 2^53) then
      outofmemory(pointer.dtype, size)
   end
   local bytes = size * elements[pointer.dtype].bytes
   if bytes > pointer.live_nbytes[0] then
      makeroom(bytes)
   end
   if not resized(pointer, size, file) then
      collectgarbage()
      if not resized(pointer, size, file) then
         outofmemory(pointer.dtype, size)
      end
   end
end

return object
