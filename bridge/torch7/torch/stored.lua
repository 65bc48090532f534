-- Tensors and storages in files: their `read` and `write`. A view is written as its sizes and all of its storage.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local longs = require 'torch.longs'
local arguments = require 'torch.arguments'

local C = native.C
local scratch, STRIDES, LIMIT = object.scratch, geometry.STRIDES, geometry.LIMIT
local INT, LONG = elements.Int.id, elements.Long.id
local CHUNK = 2^20 -- elements to make room for at once where it is unknown whether the file has them all

local int, long = ffi.new('int32_t[1]'), ffi.new('int64_t[1]')

local function corrupt(state, message, ...)
   error(string.format('corrupt file: ' .. message, ...)
      .. string.format(' (before byte %.0f)', tonumber(C.br_file_tell(state.c))), 0)
end

-- Bytes that an element takes in the file, at least.
local function width(c, dtype)
   if c.binary == 0 then
      return 1
   end
   return dtype == LONG and c.longsize == 4 and 4 or elements[dtype].bytes
end

return function(file)
   -- Read `size` elements into a storage, as many as there are; memory follows what the file really holds.
   local function fill(state, pointer, size)
      local c, dtype = state.c, pointer.dtype
      if C.br_file_map(c, pointer, size) == 1 then
         return size
      end
      local left, bytes = tonumber(C.br_file_remaining(c)), elements[dtype].bytes
      local most = left >= 0 and math.min(size, math.floor(left / width(c, dtype))) or size
      local done, some, got = 0, 0, 0
      while done < most and got == some do
         local room = left >= 0 and most or math.min(most, math.max(CHUNK, 2 * done))
         object.resizestorage(pointer, room, c)
         some = room - done
         got = tonumber(C.br_file_get(c, dtype, ffi.cast('char*', pointer.live[0]) + done * bytes, some))
         done = done + got
      end
      file.check(state, done, size, 'read')
      return done
   end

   -- A new storage with the next `size` elements, fewer in a quiet file that ends before.
   function file.storage(state, dtype, size)
      local pointer = object.allocate(dtype, 0)
      local userdata = object.wrapstorage(pointer)
      if size > 0 then
         local done = fill(state, pointer, size)
         if done < size then
            object.resizestorage(pointer, done)
         end
      end
      object.keep(userdata)
      return userdata
   end

   local function readlong(state)
      long[0] = 0
      file.get(state, LONG, long, 1)
      return tonumber(long[0])
   end

   local function writelong(state, value)
      long[0] = value
      file.put(state, LONG, long, 1)
   end

   local storages = {}

   function storages:write(to)
      local state = file.writable(to, 2)
      local storage = arguments.storage(1, self)
      local size = object.valid(storage)
      writelong(state, size)
      if size > 0 then
         file.put(state, storage.dtype, storage.live[0], size)
      end
      object.keep(self)
   end

   function storages:read(from)
      local state = file.readable(from, 2)
      local storage = arguments.storage(1, self)
      longs.storage(state, storage.dtype)
      local size = readlong(state)
      if size < 0 then
         corrupt(state, 'a storage of %.0f elements', size)
      end
      object.resizestorage(storage, 0)
      if size > 0 then
         object.resizestorage(storage, fill(state, storage, size))
      end
      object.keep(self)
   end

   local tensors = {}

   function tensors:write(to)
      local state = file.writable(to, 2)
      local t = arguments.tensor(1, self)
      int[0] = t.nDimension
      file.put(state, INT, int, 1)
      if t.nDimension > 0 then
         file.put(state, LONG, t.size, t.nDimension)
         file.put(state, LONG, t.stride, t.nDimension)
      end
      writelong(state, t.storageOffset + 1)
      to:writeObject(self:storage())
      object.keep(self)
   end

   -- The n sizes and strides in `list` lie within a storage, from an offset on.
   local function covered(list, n, offset, size)
      local last = offset
      for d = 1, n do
         last = last + (list[d] - 1) * list[n + d]
      end
      return last < size
   end

   function tensors:read(from)
      local state = file.readable(from, 2)
      local t = arguments.tensor(1, self)
      int[0] = 0
      file.get(state, INT, int, 1)
      local n = int[0]
      if n < 0 or n > LIMIT then
         corrupt(state, 'a tensor of %d dimensions (at most %d)', n, LIMIT)
      end
      longs.tensor(state, n)
      if n > 0 then
         file.get(state, LONG, scratch, n)
         file.get(state, LONG, scratch + STRIDES, n)
      end
      local offset = readlong(state) - 1
      local list = {}
      for d = 1, n do
         list[d], list[n + d] = tonumber(scratch[d - 1]), tonumber(scratch[STRIDES + d - 1])
      end
      local storage = from:readObject()
      local size = 0
      if storage ~= nil then
         if object.storagetype(storage) ~= t.dtype then
            corrupt(state, 'a %s whose storage is a %s', elements[t.dtype].tensortype, torch.type(storage))
         end
         size = tonumber(object.storage(storage).size)
      end
      for d = 1, n do
         if list[d] < 0 or list[n + d] < 0 then
            corrupt(state, 'a tensor of size %.0f and stride %.0f', list[d], list[n + d])
         elseif list[d] == 0 then
            n = 0
            break
         end
      end
      if offset < 0 or n > 0 and not covered(list, n, offset, size) then
         corrupt(state, 'a tensor that reaches past the %.0f elements of its storage', size)
      end
      for d = 1, n do
         scratch[d - 1], scratch[STRIDES + d - 1] = list[d], list[#list / 2 + d]
      end
      geometry.set(t, storage and object.storage(storage), offset, n)
      C.br_tensor_changed(t)
      object.keep(self, storage)
   end

   for id = 0, elements.count - 1 do
      object.metatables[id].read, object.metatables[id].write = tensors.read, tensors.write
      object.storagemetatables[id].read, object.storagemetatables[id].write = storages.read, storages.write
   end
end
