-- What torch.XTensor(...) and t:set(...) accept: nothing, sizes, sizes in a LongStorage, a tensor to view, a storage
-- with an offset and sizes; and, for a new tensor, a table of numbers.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'

local scratch, STRIDES = object.scratch, geometry.STRIDES
local LONG = elements.Long.id
local number, integer, bad, raise = arguments.number, arguments.integer, arguments.bad, arguments.raise
local MOST = 8 -- sizes that are read when they stand as numbers

-- Sizes of a nested table, taken from its first entries.
local function shape(list)
   local sizes = {}
   while type(list) == 'table' and #list > 0 do
      sizes[#sizes + 1] = #list
      list = rawget(list, 1)
   end
   return sizes
end

local function fillFrom(t, write, list, d, sizes, offset)
   if type(list) ~= 'table' then
      raise('invalid tensor definition')
   elseif #list ~= sizes[d] then
      raise('invalid tensor sizes')
   end
   local last, stride = d == #sizes, tonumber(t.stride[d - 1])
   for i = 1, #list do
      if last then
         local value = number(list[i])
         if not value then
            raise('invalid element (not a number)')
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
   geometry.resize(t, geometry.sizes(sizes, #sizes))
   if #sizes > 0 then
      fillFrom(t, index.write[dtype], list, 1, sizes, 0)
   end
   return userdata
end

-- Strides from a LongStorage into scratch, next to `n` sizes.
local function stridesFrom(storage, n)
   ffi.copy(scratch + STRIDES, storage.live[0], n * 8)
end

local function unset(n)
   for d = 0, n - 1 do
      scratch[STRIDES + d] = -1
   end
   return n
end

-- Sizes (and strides, where -1 stands for any) into scratch: those that argument `at` and the following ones of `count`
-- give. How many they are, up to the first that is not positive.
local function sizes(at, count, strided, first, ...)
   if object.storagetype(first) == LONG then
      local strides = ...
      local n = geometry.sizesof(object.storage(first))
      if strides == nil then
         return unset(n)
      elseif object.storagetype(strides) ~= LONG then
         bad(at + 1, 'torch.LongStorage expected')
      elseif object.storage(strides).size ~= object.storage(first).size then
         bad(at + 1, 'provided stride and size are inconsistent')
      end
      stridesFrom(object.storage(strides), n)
      return n
   end
   local list, step, n = {first, ...}, strided and 2 or 1, 0
   local given = math.min(count - at + 1, MOST * step)
   unset(MOST)
   for i = 1, given do
      list[i] = integer(at + i - 1, list[i], count)
   end
   for i = 1, given, step do
      if list[i] < 1 then
         break
      end
      scratch[n] = list[i]
      if strided and i < given then
         scratch[STRIDES + n] = list[i + 1]
      end
      n = n + 1
   end
   return n
end

-- Make t what the arguments from `at` on, of `count`, say; `first` is the one at `at`.
local function set(t, dtype, at, count, first, ...)
   if count < at then
      return geometry.set(t, nil, 0, 0)
   elseif object.dtype(first) == dtype then
      return geometry.assign(t, object.tensor(first))
   elseif object.storagetype(first) == dtype then
      local storage = object.storage(first)
      if count == at then
         scratch[0], scratch[STRIDES] = storage.size, 1
         return geometry.setstorage(t, storage, 0, storage.size > 0 and 1 or 0)
      end
      local offset = integer(at + 1, (...), count)
      local n = sizes(at + 2, count, true, select(2, ...))
      if offset < 1 then
         raise('Tensor: invalid storage offset')
      end
      geometry.setstorage(t, storage, offset - 1, n)
      object.keep(first)
      return
   elseif number(first) or object.storagetype(first) == LONG then
      local n = sizes(at, count, false, first, ...)
      geometry.set(t, nil, 0, 0)
      return geometry.resize(t, n, true)
   end
   bad(at, 'expecting number or %s or %s', elements[dtype].tensortype, elements[dtype].storagetype)
end

-- The constructor of one element type.
local function constructor(element)
   local dtype = element.id
   return arguments.public(function(...)
      local count, a, b = select('#', ...), ...
      if count == 0 then
         return object.newtensor(dtype)
      elseif count <= 2 and type(a) == 'number' then
         local userdata = object.newtensor(dtype)
         if count == 1 then
            geometry.resize1(object.tensor(userdata), a)
            return userdata
         elseif type(b) == 'number' and a >= 1 then
            scratch[0], scratch[1] = a, b
            geometry.resize(object.tensor(userdata), b >= 1 and 2 or 1)
            return userdata
         end
      elseif type(a) == 'table' then
         local made = fromTable(dtype, a)
         return made
      end
      local userdata = object.newtensor(dtype)
      set(object.tensor(userdata), dtype, 1, count, ...)
      return userdata
   end, 'constructor')
end

return setmetatable({set = set, sizes = sizes}, {
   __call = function(_, element)
      return constructor(element)
   end
})
