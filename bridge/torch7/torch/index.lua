-- Indexing by tables, masks and LongStorages: t[{1, {2, 3}}], t[mask], and assigning to them.
local object = require 'torch.object'
local elements = require 'torch.elements'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'

local BYTE, LONG, DEVICE = elements.Byte.id, elements.Long.id, elements.DEVICE

local index = {read = {}, write = {}} -- read, write: element type -> function(tensor pointer, offset [, value])

-- Torch7's message. What indexes is called by Lua through another function, which hides its name and its caller.
local function bad(argument, message, ...)
   error(string.format("bad argument #%d to '?' (%s)", argument, string.format(message, ...)), 0)
end

-- Is it a mask, on the CPU or on a device?
local function ismask(key)
   local dtype = object.dtype(key)
   return dtype == BYTE or dtype == BYTE + DEVICE
end
index.ismask = ismask

local number, truncated = arguments.number, arguments.truncated

-- A position that counts from 1, or from the end if it is negative, as an offset; `what` is said of one that is none.
local function position(entry, size, what)
   local i = truncated(entry - 1)
   i = i < 0 and i + size + 1 or i
   if not (i >= 0 and i < size) then
      arguments.noted(entry, 1, size, what)
      bad(2, what)
   end
   return i
end

-- Narrow the view by one dimension's entry of an index table; the dimension that comes next.
local function apply(view, d, entry)
   local size, at = tonumber(view.size[d]), number(entry)
   if at then
      view.storageOffset = view.storageOffset + position(at, size, 'index out of bound') * view.stride[d]
      if view.nDimension == 1 then
         view.nDimension = 0
         return d
      end
      for k = d, view.nDimension - 2 do
         view.size[k], view.stride[k] = view.size[k + 1], view.stride[k + 1]
      end
      view.nDimension = view.nDimension - 1
      return d
   end
   local from, to = number(rawget(entry, 1)), number(rawget(entry, 2))
   local first = position(from or 1, size, 'start index out of bound')
   local last = position(to or from or size, size, 'end index out of bound')
   if last < first then
      bad(2, 'end index must be greater or equal to start index')
   end
   view.storageOffset = view.storageOffset + first * view.stride[d]
   view.size[d] = last - first + 1
   return d + 1
end

-- The view that an index table stands for, and whether it is one element.
local function byTable(self, key)
   local dims = object.tensor(self).nDimension
   if #key > dims then
      bad(2, 'too many indices provided')
   end
   local userdata = geometry.alias(self)
   local view = object.tensor(userdata)
   local d = 0
   for i = 1, dims do
      local entry = rawget(key, i)
      if not number(entry) and type(entry) ~= 'table' then
         break
      end
      d = apply(view, d, entry)
   end
   return userdata, view, view.nDimension == 0 and dims > 0
end

local function byStorage(self, key)
   local storage, list = object.storage(key), {}
   for i = 1, tonumber(storage.size) do
      list[i] = key[i]
   end
   if #list ~= object.tensor(self).nDimension then
      bad(2, 'invalid size')
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
   elseif type(key) == 'string' and tonumber(key) then
      return self[tonumber(key)]
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

-- A number that is assigned to one element.
local function element(value)
   return number(value) or bad(3, 'number expected, got %s', type(value))
end

-- Give a view one number, or the elements of a tensor.
local function fill(userdata, value)
   local filler = number(value)
   if filler then
      userdata:fill(filler)
   elseif object.dtype(value) then
      userdata:copy(value)
   else
      bad(3, 'torch.*Tensor expected, got %s', type(value))
   end
end

arguments.public(fill, 'hidden')

-- self[i] = value, where `i` is a number.
local function setRow(self, i, value)
   local t = object.tensor(self)
   if t.nDimension == 0 then
      bad(1, 'empty tensor')
   end
   local size, filler = tonumber(t.size[0]), number(value)
   if not filler and not object.dtype(value) then
      bad(3, 'torch.*Tensor expected, got %s', type(value))
   end
   local given = truncated(i)
   i = given < 1 and given + size + 1 or given
   if i < 1 or i > size then
      arguments.noted(given, 1, size, 'out of range')
      bad(filler and t.nDimension == 1 and 2 or 3, 'out of range')
   end
   fill(self:narrow(1, i, 1), value)
end

-- self[key] = value; false for a key that indexes nothing.
function index.set(self, key, value)
   local userdata, view, single
   if number(key) then
      setRow(self, number(key), value)
      return true
   elseif type(key) == 'table' then
      userdata, view, single = byTable(self, key)
   elseif object.storagetype(key) == LONG then
      element(value)
      userdata, view, single = byStorage(self, key)
   elseif ismask(key) then
      if number(value) then
         self:maskedFill(key, number(value))
      elseif object.dtype(value) == object.dtype(self) then
         self:maskedCopy(key, value)
      else
         error('number or ' .. elements[object.dtype(self)].tensortype .. ' expected', 0)
      end
      return true
   else
      return false
   end
   if single then
      index.write[view.dtype](view, view.storageOffset, element(value))
      object.keep(userdata)
   else
      fill(userdata, value)
   end
   return true
end
arguments.public(index.set, 'hidden')

return index
