-- As threads.serialize, but tensors, storages and tds objects are not copied: both sides have the same memory.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local object = require 'torch.object'
local trust = require('torch.file').trust
require 'tds'

local C = native.C
local destructor = ffi.typeof('void (*)(void *)')
local outgoing = setmetatable({}, {__mode = 'k'}) -- file -> the br_passed of what is written to it
local incoming = setmetatable({}, {__mode = 'k'}) -- file -> the br_storage whose references are read from it

-- The next reference that a file names.
local function received(file, free)
   local pointer = C.br_passed_find(incoming[file], file:readLong(), free)
   if pointer == nil then
      error('these bytes name a reference that did not come with them: load what sharedserialize.save returned')
   end
   return pointer
end

-- How objects of a class are written: as references, where these can go with the file, else by `copy`. `share(self)`
-- answers a pointer with a reference of its own, which `free` gives back.
local function writer(copy, free, share)
   return function(self, file)
      local passed = outgoing[file]
      if not passed then
         return copy(self, file)
      end
      local number = C.br_passed_add(passed, share(self), free)
      if number < 0 then
         error('not enough memory')
      end
      file:writeLong(tonumber(number))
   end
end

-- ---- storages, and so tensors

local storagepointer, slot = ffi.typeof('br_storage *'), ffi.typeof('br_storage **')
local release = ffi.cast(destructor, C.br_storage_release)

local function sharestorage(self)
   local pointer = object.storage(self)
   C.br_storage_retain(pointer)
   object.keep(self)
   return pointer
end

local function shared(id, metatable)
   local copy = metatable.read
   metatable.write = writer(metatable.write, release, sharestorage)
   function metatable:read(file)
      if not incoming[file] then
         return copy(self, file)
      end
      local pointer = ffi.cast(storagepointer, received(file, release))
      if pointer.dtype ~= id then
         error('these bytes name a storage of another type')
      end
      C.br_storage_retain(pointer)
      C.br_storage_release(object.storage(self))
      ffi.cast(slot, self)[0] = pointer
   end
end

for id, metatable in pairs(object.storagemetatables) do
   shared(id, metatable)
end

-- Those on a device too, whose memory all threads of a process share: cutorch may be loaded later.
setmetatable(object.storagemetatables, {__newindex = function(known, id, metatable)
   rawset(known, id, metatable)
   shared(id, metatable)
end})

-- ---- tds objects, each a reference from its beginning

local function sharetds(typename, struct, prefix)
   local metatable = torch.getmetatable(typename)
   local create, copy = metatable.__factory, metatable.read
   local reference, retain, give_back = ffi.typeof(struct .. '&'), C[prefix .. '_retain'], C[prefix .. '_free']
   local free = ffi.cast(destructor, give_back)

   metatable.write = writer(metatable.write, free, function(self)
      retain(self)
      return self
   end)

   function metatable.__factory(file)
      if not incoming[file] then
         return create()
      end
      local self = ffi.cast(reference, received(file, free))
      retain(self)
      return ffi.gc(self, give_back)
   end

   function metatable:read(file)
      if not incoming[file] then
         return copy(self, file)
      end
   end
end

sharetds('tds.Hash', 'tds_hash', 'tds_hash')
sharetds('tds.Vec', 'tds_vec', 'tds_vec')
sharetds('tds.AtomicCounter', 'tds_atomic_counter', 'tds_atomic')

-- ----

local serialize = {}

-- Have a class's objects be references too: `share(self)` answers a pointer with a reference of its own, which the C
-- function `release` gives back, and `adopt(self, pointer)` makes of an empty object one with that pointer, which it
-- retains. Such objects cannot be written elsewhere.
function serialize.reference(typename, release_, share, adopt)
   local metatable = torch.getmetatable(typename)
   local free = ffi.cast(destructor, release_)
   metatable.__write = writer(function()
      error(string.format('a %s can be sent to threads of this process only', typename), 0)
   end, free, share)
   function metatable:__read(file)
      if not incoming[file] then
         error(string.format('a %s can come from threads of this process only', typename), 0)
      end
      adopt(self, received(file, free))
   end
end

-- A CharStorage with an object in it, and with references to what the object shares.
function serialize.save(value)
   local file = torch.MemoryFile()
   file:binary()
   trust(file)
   local passed = C.br_passed_new()
   if passed == nil then
      error('not enough memory')
   end
   outgoing[file] = ffi.gc(passed, C.br_passed_free)
   file:writeObject(value)
   outgoing[file] = nil
   local storage = file:storage()
   file:close()
   C.br_passed_attach(ffi.gc(passed, nil), object.storage(storage))
   return storage
end

-- The object that is in a CharStorage; it may be loaded several times.
function serialize.load(storage)
   if torch.typename(storage) ~= 'torch.CharStorage' then
      error('load: torch.CharStorage expected, got ' .. torch.type(storage), 2)
   end
   local file = torch.MemoryFile(storage, 'r')
   file:binary()
   trust(file)
   incoming[file] = object.storage(storage)
   local value = file:readObject()
   incoming[file] = nil
   file:close()
   object.keep(storage)
   return value
end

return serialize
