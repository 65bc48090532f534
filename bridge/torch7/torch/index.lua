-- Indexing by tables, masks and LongStorages: t[{1, {2, 3}}], t[mask], and assigning to them.
local object = require 'torch.object'
local elements = require 'torch.elements'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'

local BYTE, LONG, DEVICE = elements.Byte.id, elements.Long.id, elements.DEVICE

local index = {read = {}, write = {}} -- read, write: element type -> function(tensor pointer, offset [, value])

-- Torch7's message; the fault lies with whoever wrote the indexing expression.
local function fail(argument, message)
   error(string.format("bad argument #%d to '?' (%s)", argument, message), 0)
end

-- Is it a mask, on the CPU or on a device?
local function ismask(key)
   local dtype = object.dtype(key)
   return dtype == BYTE or dtype == BYTE + DEVICE
end
index.ismask = ismask

-- Narrow the view by one dimension's entry of an index table; the dimension that comes next.
local function apply(view, d, entry)
   if d >= view.nDimension then
      fail(2, 'too many indices provided')
   end
   local size = tonumber(view.size[d])
   if type(entry) == 'number' then
      local i = tonumber(entry < 0 and math.ceil(entry) + size or math.floor(entry) - 1)
      if not (i >= 0 and i < size) then
         fail(2, 'index out of bound')
      end
      view.storageOffset = view.storageOffset + i * view.stride[d]
      if view.nDimension == 1 then
         view.nDimension = 0
         return d
      end
      for k = d, view.nDimension - 2 do
         view.size[k], view.stride[k] = view.size[k + 1], view.stride[k + 1]
      end
      view.nDimension = view.nDimension - 1
      return d
   elseif type(entry) == 'table' then
      local first, last = entry[1], entry[2]
      if first == nil then
         return d + 1
      end
      first = arguments.number(first)
      last = last == nil and first or arguments.number(last)
      if not first or not last then
         fail(2, 'number expected in a range')
      end
      first = first < 0 and math.ceil(first) + size or math.floor(first) - 1
      last = last < 0 and math.ceil(last) + size or math.floor(last) - 1
      if not (first >= 0 and first < size and last >= 0 and last < size) then
         fail(2, 'index out of bound')
      elseif last < first then
         fail(2, 'end index must be greater or equal to start index')
      end
      view.storageOffset = view.storageOffset + first * view.stride[d]
      view.size[d] = last - first + 1
      return d + 1
   end
   fail(2, 'number or table expected in an index table, got ' .. type(entry))
end

-- The view that an index table stands for, and whether it is one element.
local function byTable(self, key)
   local userdata = geometry.alias(self)
   local view = object.tensor(userdata)
   local d, left = 0, view.nDimension
   for i = 1, #key do
      local entry = key[i]
      if type(entry) ~= 'number' and type(entry) ~= 'table' then
         break
      end
      if left == 0 then
         fail(2, 'too many indices provided')
      end
      left = left - 1
      d = apply(view, d, entry)
   end
   return userdata, view, view.nDimension == 0 and object.tensor(self).nDimension > 0
end

local function byStorage(self, key)
   local storage, list = object.storage(key), {}
   for i = 1, tonumber(storage.size) do
      list[i] = key[i]
   end
   if #list ~= object.tensor(self).nDimension then
      fail(2, 'invalid size')
   end
   return byTable(self, list)
end

-- The value of self[key] for a key that is no number.
function index.get(self, key)
   local userdata, view, single
   if type(key) == 'table' then
      userdata, view, single = byTable(self, key)
   elseif object.storagetype(key) == LONG then
      userdata, view, single = byStorage(self, key)
   elseif ismask(key) then
      return self.maskedSelect(self, key)
   else
      return nil
   end
   if single then
      local value = index.read[view.dtype](view, view.storageOffset)
      object.keep(userdata)
      return value
   end
   return userdata
end

-- Give a view one number, or the elements of a tensor.
local function fill(userdata, value)
   local number = arguments.number(value)
   if number then
      userdata:fill(number)
   elseif object.dtype(value) then
      userdata:copy(value)
   else
      fail(3, 'torch.*Tensor expected, got ' .. arguments.typename(value))
   end
end

-- self[key] = value; false for a key that indexes nothing.
function index.set(self, key, value)
   local userdata, view, single
   if type(key) == 'number' then
      local t = object.tensor(self)
      if t.nDimension == 0 then
         fail(2, 'empty tensor')
      end
      local size = tonumber(t.size[0])
      local i = key < 0 and math.ceil(key) + size + 1 or math.floor(key)
      if not (i >= 1 and i <= size) then
         arguments.noted(key, 1, size, 'out of range')
         fail(2, 'out of range')
      end
      userdata = self:narrow(1, i, 1)
   elseif type(key) == 'table' then
      userdata, view, single = byTable(self, key)
   elseif object.storagetype(key) == LONG then
      userdata, view, single = byStorage(self, key)
   elseif ismask(key) then
      if arguments.number(value) then
         self:maskedFill(key, value)
      elseif object.dtype(value) then
         self:maskedCopy(key, value)
      else
         fail(3, 'number or tensor expected, got ' .. arguments.typename(value))
      end
      return true
   else
      return false
   end
   if single then
      local number = arguments.number(value)
      if not number then
         fail(3, 'number expected, got ' .. arguments.typename(value))
      end
      index.write[view.dtype](view, view.storageOffset, number)
      object.keep(userdata)
      return true
   end
   fill(userdata, value)
   return true
end

return index
