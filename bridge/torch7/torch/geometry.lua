-- Sizes and strides of tensors, and the storage they need. Everything else that shapes a tensor goes through here.
local ffi = require 'ffi'
local native = require 'bridge.native'
local object = require 'torch.object'

local C = native.C
local scratch = object.scratch
local STRIDES = 128 -- where strides begin in scratch

local geometry = {STRIDES = STRIDES, LIMIT = STRIDES}

local function elements(t)
   local n = t.nDimension
   if n == 0 then
      return 0
   end
   local count = 1
   for d = 0, n - 1 do
      count = count * tonumber(t.size[d])
   end
   return count
end
geometry.elements = elements

local function contiguous(t)
   local expected = 1
   for d = t.nDimension - 1, 0, -1 do
      local size = t.size[d]
      if size ~= 1 then
         if t.stride[d] ~= expected then
            return false
         end
         expected = expected * size
      end
   end
   return true
end
geometry.contiguous = contiguous

function geometry.samesize(a, b)
   local n = a.nDimension
   if n ~= b.nDimension then
      return false
   end
   for d = 0, n - 1 do
      if a.size[d] ~= b.size[d] then
         return false
      end
   end
   return true
end

-- '[2 x 3]', '[]'
function geometry.describe(t)
   local parts = {}
   for d = 0, t.nDimension - 1 do
      parts[d + 1] = string.format('%d', tonumber(t.size[d]))
   end
   return '[' .. table.concat(parts, ' x ') .. ']'
end

-- A tensor, and scratch, have room for that many dimensions.
function geometry.limited(count)
   if count > geometry.LIMIT then
      error(string.format('too many dimensions (%.0f, at most %d)', count, geometry.LIMIT), 0)
   end
end

local function reserve(t, n)
   geometry.limited(n)
   if n > t.capacity and C.br_tensor_reserve(t, n) ~= 0 then
      error('not enough memory for a tensor of ' .. n .. ' dimensions', 0)
   end
end
geometry.reserve = reserve

-- The offset of the last element of the n sizes and strides in scratch.
local function reach(n, offset)
   for d = 0, n - 1 do
      offset = offset + (tonumber(scratch[d]) - 1) * tonumber(scratch[STRIDES + d])
   end
   return offset
end

-- Make sure that the storage has the n sizes and strides in scratch, from an offset on; the first thing that can fail.
local function provide(t, n, offset)
   local last, storage = reach(n, offset), t.storage
   if n == 0 then
      return
   elseif storage == nil then
      storage = object.allocate(t.dtype, last + 1)
      C.br_tensor_set_storage(t, storage)
      C.br_storage_release(storage)
   elseif last >= storage.size then
      object.resizestorage(storage, last + 1)
   end
end

-- Is this already the geometry in scratch?
local function unchanged(t, n, strided)
   if n ~= t.nDimension then
      return false
   end
   for d = 0, n - 1 do
      if t.size[d] ~= scratch[d] then
         return false
      end
      if strided and scratch[STRIDES + d] >= 0 and t.stride[d] ~= scratch[STRIDES + d] then
         return false
      end
   end
   return true
end

-- Replace the strides in scratch that are negative (or all, unless they were given) by contiguous ones.
local function complete(n, strided)
   local total, expected = 1, 1
   for d = n - 1, 0, -1 do
      local size = tonumber(scratch[d])
      if size < 1 then
         error('invalid tensor size', 0)
      end
      total = total * size
      if not strided or scratch[STRIDES + d] < 0 then
         scratch[STRIDES + d] = expected < 2^53 and expected or 0
      end
      expected = size * tonumber(scratch[STRIDES + d])
   end
   if not (total < 2^53) then
      error(string.format('not enough memory: a tensor of %g elements', total), 0)
   end
end

-- Give a tensor the n sizes that lie in scratch, and contiguous strides, or those in scratch where they are not
-- negative. The storage grows when it has to. A tensor that has these sizes stays as it is, as does one that cannot
-- have them.
local function resize(t, n, strided)
   if unchanged(t, n, strided) then
      return
   end
   complete(n, strided)
   provide(t, n, tonumber(t.storageOffset))
   C.br_tensor_changed(t)
   reserve(t, n)
   for d = 0, n - 1 do
      t.size[d], t.stride[d] = scratch[d], scratch[STRIDES + d]
   end
   t.nDimension = n
end
geometry.resize = resize

-- A one-dimensional tensor of `size` elements; none for 0 and below.
function geometry.resize1(t, size)
   scratch[0] = size
   resize(t, size >= 1 and 1 or 0)
end

function geometry.resizeas(t, other)
   local n = other.nDimension
   if t.nDimension == n then
      local same = true
      for d = 0, n - 1 do
         if t.size[d] ~= other.size[d] then
            same = false
            break
         end
      end
      if same then
         return
      end
   end
   ffi.copy(scratch, other.size, n * 8)
   resize(t, n)
end

-- Put sizes from Lua numbers into scratch, up to the first that is not positive; how many there are.
function geometry.sizes(list, count)
   geometry.limited(count)
   for d = 0, count - 1 do
      local size = list[d + 1]
      if not (size >= 1) then
         return d
      end
      if not (size < 2^53) then
         error(string.format('not enough memory: a dimension of size %.0f', size), 0)
      end
      scratch[d] = size
   end
   return count
end

-- The same from a LongStorage.
function geometry.sizesof(storage)
   local count = tonumber(storage.size)
   geometry.limited(count)
   local data = ffi.cast('int64_t*', storage.live[0])
   for d = 0, count - 1 do
      if data[d] < 1 then
         return d
      end
      scratch[d] = data[d]
   end
   return count
end

-- The same from numbers or a LongStorage.
function geometry.sizeslike(first, ...)
   if type(first) == 'userdata' then
      return geometry.sizesof(object.storage(first))
   end
   local list = {first, ...}
   return geometry.sizes(list, #list)
end

-- Make t a view with the n sizes and strides in scratch, at an offset (0-based) of a storage, which grows if it has to.
function geometry.set(t, storage, offset, n)
   complete(n, true)
   if storage ~= nil and n > 0 then
      local last = reach(n, offset)
      if last >= storage.size then
         object.resizestorage(storage, last + 1)
      end
   end
   C.br_tensor_set_storage(t, storage)
   reserve(t, n)
   ffi.copy(t.size, scratch, n * 8)
   ffi.copy(t.stride, scratch + STRIDES, n * 8)
   t.nDimension = n
   t.storageOffset = offset
end

-- The same where negative strides stand for any: contiguous ones, unless t has these sizes already and no other stride
-- is asked for; then it keeps its own.
function geometry.setstorage(t, storage, offset, n)
   if unchanged(t, n, true) then
      ffi.copy(scratch + STRIDES, t.stride, n * 8)
   end
   geometry.set(t, storage, offset, n)
end

-- Make t the same view as another tensor.
function geometry.assign(t, other)
   local n = other.nDimension
   C.br_tensor_set_storage(t, other.storage)
   reserve(t, n)
   ffi.copy(t.size, other.size, n * 8)
   ffi.copy(t.stride, other.stride, n * 8)
   t.nDimension = n
   t.storageOffset = other.storageOffset
end

-- A new tensor that is the same view as another.
function geometry.alias(other)
   local userdata = object.newtensor(object.dtype(other))
   geometry.assign(object.tensor(userdata), object.tensor(other))
   return userdata
end

return geometry
