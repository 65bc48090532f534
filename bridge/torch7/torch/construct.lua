-- What torch.XTensor(...) accepts: nothing, sizes, a table of numbers, sizes in a LongStorage, a tensor to view, a
-- storage with an offset and sizes.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'

local scratch, STRIDES = object.scratch, geometry.STRIDES
local LONG = elements.Long.id
local number = arguments.number

local function fail(argument, message)
   arguments.fail(argument, '?', message, 1)
end

-- Sizes of a nested table, taken from its first entries.
local function shape(list)
   local sizes = {}
   while type(list) == 'table' do
      sizes[#sizes + 1] = #list
      list = list[1]
   end
   return sizes
end

local function fillFrom(t, write, list, d, sizes, offset)
   if type(list) ~= 'table' or #list ~= sizes[d] then
      error('invalid tensor sizes', 0)
   end
   local last, stride = d == #sizes, tonumber(t.stride[d - 1])
   for i = 1, #list do
      if last then
         local value = number(list[i])
         if not value then
            error(type(list[i]) == 'table' and 'invalid tensor sizes'
               or 'invalid element (not a number)', 0)
         end
         write(t, offset, value)
      else
         fillFrom(t, write, list[i], d + 1, sizes, offset)
      end
      offset = offset + stride
   end
end

local function fromTable(dtype, list)
   local userdata = object.newtensor(dtype)
   local sizes = shape(list)
   local t = object.tensor(userdata)
   local n = geometry.sizes(sizes, #sizes)
   geometry.resize(t, n)
   if n < #sizes and n > 0 then
      error('invalid tensor sizes', 0)
   end
   if n > 0 then
      fillFrom(t, index.write[dtype], list, 1, sizes, 0)
   end
   return userdata
end

-- Strides from a LongStorage into scratch, next to `n` sizes.
local function stridesFrom(storage, n)
   local data = ffi.cast('int64_t*', storage.live[0])
   for d = 0, n - 1 do
      scratch[STRIDES + d] = data[d]
   end
end

-- An offset (1-based), then sizes: a LongStorage with perhaps one of strides, or size, stride, size, stride, ...
local function setStorage(t, storage, offset, first, ...)
   if offset == nil then
      scratch[0] = storage.size
      scratch[STRIDES] = 1
      return geometry.set(t, storage, 0, storage.size > 0 and 1 or 0)
   end
   local start = number(offset)
   if not start then
      fail(2, 'number expected, got ' .. type(offset))
   elseif not (start >= 1 and start < 2^53) then
      fail(2, 'the storage offset must be positive')
   end
   start = math.floor(start) - 1
   local n
   if first == nil then
      return geometry.set(t, storage, start, 0)
   elseif object.storagetype(first) == LONG then
      local strides = ...
      n = geometry.sizesof(object.storage(first))
      if strides == nil then
         for d = 0, n - 1 do
            scratch[STRIDES + d] = -1
         end
      elseif object.storagetype(strides) == LONG and object.storage(strides).size == object.storage(first).size then
         stridesFrom(object.storage(strides), n)
      else
         error('provided stride and size are inconsistent', 0)
      end
   else
      local list = {first, ...}
      n = 0
      for i = 1, #list, 2 do
         local size, stride = number(list[i]), number(list[i + 1] == nil and -1 or list[i + 1])
         if not size or not stride then
            fail(2 + i, 'number expected')
         end
         if not (size >= 1) then
            break
         elseif n == geometry.LIMIT then
            error('too many dimensions', 0)
         end
         scratch[n], scratch[STRIDES + n] = size, stride
         n = n + 1
      end
   end
   geometry.set(t, storage, start, n)
end

local function fromSizes(dtype, list, count)
   local userdata = object.newtensor(dtype)
   for i = 1, count do
      local size = number(list[i])
      if not size then
         fail(i, 'number expected, got ' .. type(list[i]))
      end
      list[i] = size
   end
   geometry.resize(object.tensor(userdata), geometry.sizes(list, count))
   return userdata
end

-- The constructor of one element type.
local function constructor(element)
   local dtype = element.id
   return function(a, b, c, ...)
      if type(a) == 'number' and c == nil then
         local userdata = object.newtensor(dtype)
         if b == nil then
            geometry.resize1(object.tensor(userdata), a)
            return userdata
         elseif type(b) == 'number' and a >= 1 then
            scratch[0], scratch[1] = a, b
            geometry.resize(object.tensor(userdata), b >= 1 and 2 or 1)
            return userdata
         end
      end
      if a == nil then
         return object.newtensor(dtype)
      elseif number(a) then
         return fromSizes(dtype, {a, b, c, ...}, select('#', ...) + (c ~= nil and 3 or b ~= nil and 2 or 1))
      elseif type(a) == 'table' then
         return fromTable(dtype, a)
      elseif object.storagetype(a) == LONG and (dtype ~= LONG or type(b) == 'userdata') then
         local userdata = object.newtensor(dtype)
         local n = geometry.sizesof(object.storage(a))
         if b ~= nil then
            if object.storagetype(b) ~= LONG or object.storage(b).size ~= object.storage(a).size then
               error('provided stride and size are inconsistent', 2)
            end
            stridesFrom(object.storage(b), n)
         end
         geometry.resize(object.tensor(userdata), n, b ~= nil)
         return userdata
      elseif object.storagetype(a) == dtype then
         local userdata = object.newtensor(dtype)
         if dtype == LONG and b == nil then -- a LongStorage alone means sizes, here too
            geometry.resize(object.tensor(userdata), geometry.sizesof(object.storage(a)))
         else
            setStorage(object.tensor(userdata), object.storage(a), b, c, ...)
         end
         return userdata
      elseif object.dtype(a) == dtype then
         return geometry.alias(a)
      end
      fail(1, string.format('expecting number or %s or %s', element.tensortype, element.storagetype))
   end
end

return setmetatable({setStorage = setStorage}, {
   __call = function(_, element)
      return constructor(element)
   end
})
