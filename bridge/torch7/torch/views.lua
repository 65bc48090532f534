-- Other views of the same memory: narrow, select, transpose, unfold, expand, view.
local elements = require 'torch.elements'
local native = require 'bridge.native'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'

local C = native.C
local bad, beyond, raise = arguments.bad, arguments.beyond, arguments.raise
local integer, tensor = arguments.integer, arguments.tensor
local alias = geometry.alias
local LONG = elements.Long.id
local OUT = 'out of range'

local methods = {}

-- Is there a dimension d, which argument `argument` named? As an offset.
local function dimension(argument, t, d)
   if d < 1 or d > t.nDimension then
      beyond(argument, d, 1, t.nDimension, OUT)
   end
   return d - 1
end

function methods.narrow(...)
   local self, d, first, size = ...
   local t, n = tensor(1, self), select('#', ...)
   d, first, size = integer(2, d, n), integer(3, first, n), integer(4, size, n)
   d = dimension(2, t, d)
   local extent = tonumber(t.size[d])
   if first < 1 or first > extent then
      beyond(3, first, 1, extent, OUT)
   elseif size <= 0 or first + size - 1 > extent then
      beyond(4, size, 1, extent - first + 1, OUT)
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   r.storageOffset = r.storageOffset + (first - 1) * r.stride[d]
   r.size[d] = size
   return userdata
end

-- One slice along a dimension; of a tensor with one dimension, a number, whatever dimension is named.
function methods.select(...)
   local self, d, i = ...
   local t, n = tensor(1, self), select('#', ...)
   d, i = integer(2, d, n), integer(3, i, n)
   if t.nDimension <= 1 then
      if t.nDimension == 0 then
         bad(1, 'empty Tensor')
      elseif i < 1 or i > t.size[0] then
         beyond(2, i, 1, t.size[0], OUT)
      end
      local value = index.read[t.dtype](t, t.storageOffset + (i - 1) * t.stride[0])
      object.keep(self)
      return value
   end
   d = dimension(2, t, d)
   if i < 1 or i > t.size[d] then
      beyond(3, i, 1, t.size[d], OUT)
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   r.storageOffset = t.storageOffset + (i - 1) * t.stride[d]
   for k = d, r.nDimension - 2 do
      r.size[k], r.stride[k] = r.size[k + 1], r.stride[k + 1]
   end
   r.nDimension = r.nDimension - 1
   object.keep(self)
   return userdata
end

-- sub(first1, last1, first2, last2, ...), of four dimensions at most: negative positions count from the end.
function methods.sub(...)
   local self, n = (...), select('#', ...)
   local t = tensor(1, self)
   local userdata = alias(self)
   local r = object.tensor(userdata)
   for d = 0, 3 do
      local at = 2 * d + 2 -- the argument that says where the range begins
      if d > 0 and n < at then
         break
      end
      local first, last = select(at, ...)
      first, last = integer(at, first, n), integer(at + 1, last, n)
      if d >= t.nDimension then
         bad(at, 'invalid dimension')
      end
      local size = tonumber(t.size[d])
      first = first < 1 and first + size or first - 1 -- 0 is the place behind the last one
      last = last < 1 and last + size or last - 1
      if first < 0 or first >= size then
         beyond(at, select(at, ...), 1, size, OUT)
      elseif last < 0 or last >= size then
         beyond(at + 1, select(at + 1, ...), first + 1, size, OUT)
      elseif last < first then
         bad(at + 1, 'end smaller than beginning')
      end
      r.storageOffset = r.storageOffset + first * r.stride[d]
      r.size[d] = last - first + 1
   end
   object.keep(self)
   return userdata
end

local function swap(r, a, b)
   r.size[a], r.size[b] = r.size[b], r.size[a]
   r.stride[a], r.stride[b] = r.stride[b], r.stride[a]
end

function methods.transpose(...)
   local self, a, b = ...
   local t, n = tensor(1, self), select('#', ...)
   a, b = integer(2, a, n), integer(3, b, n)
   a, b = dimension(1, t, a), dimension(2, t, b)
   local userdata = alias(self)
   swap(object.tensor(userdata), a, b)
   return userdata
end

function methods:t()
   local t = tensor(1, self)
   if t.nDimension ~= 2 then
      bad(1, 'Tensor must have 2 dimensions')
   end
   local userdata = alias(self)
   swap(object.tensor(userdata), 0, 1)
   return userdata
end

-- The dimensions in another order: cycle after cycle of the permutation by transposing two, the tensor itself where
-- there is nothing to do.
function methods.permute(...)
   local self = ...
   local t = tensor(1, self)
   local n, order = t.nDimension, {select(2, ...)}
   if #order ~= n then
      error('Invalid permutation', 0)
   end
   local userdata
   for first = 1, n do
      local d = order[first]
      if d ~= first and d ~= 0 then
         userdata = userdata or alias(self)
         local at = first
         repeat
            d = order[at]
            if not (d > 0 and d <= n) then
               error('Invalid permutation', 0)
            end
            swap(object.tensor(userdata), at - 1, d - 1)
            at, order[at] = d, 0
         until order[at] == first
         order[at] = at
      end
   end
   object.keep(self)
   return userdata or self
end

-- All windows of `size` elements, `step` apart, along a dimension; they become the last dimension.
function methods.unfold(...)
   local self, d, size, step = ...
   local t, count = tensor(1, self), select('#', ...)
   d, size, step = integer(2, d, count), integer(3, size, count), integer(4, step, count)
   local n = t.nDimension
   if n == 0 then
      bad(1, 'cannot unfold an empty tensor')
   end
   d = dimension(2, t, d)
   if size < 1 or size > t.size[d] then
      beyond(3, size, 1, t.size[d], OUT)
   elseif step < 1 then
      bad(4, 'invalid step')
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   geometry.reserve(r, n + 1)
   for k = 0, n - 1 do
      r.size[k], r.stride[k] = t.size[k], t.stride[k]
   end
   r.size[n], r.stride[n] = size, t.stride[d]
   r.size[d] = math.floor((tonumber(t.size[d]) - size) / step) + 1
   r.stride[d] = step * t.stride[d]
   r.nDimension = n + 1
   object.keep(self)
   return userdata
end

-- The elements of one LongStorage, or whole numbers.
local function list(first, ...)
   if object.storagetype(first) == LONG then
      return first:totable()
   end
   local sizes = {first, ...}
   for i = 1, #sizes do
      local size = arguments.number(sizes[i])
      if not size then
         raise('element at index %d is not a number', i)
      end
      sizes[i] = arguments.truncated(size)
   end
   return sizes
end

local function expand(result, source, ...)
   local t = tensor(2, source, result and object.dtype(result))
   local sizes, n = list(...), t.nDimension
   if #sizes ~= n then
      raise('the number of dimensions provided must equal tensor:dim()')
   end
   for d = 0, n - 1 do
      if t.size[d] ~= 1 and t.size[d] ~= sizes[d + 1] then
         raise('incorrect size: only supporting singleton expansion (size=1)')
      end
   end
   result = result or object.newtensor(t.dtype)
   local r = object.tensor(result)
   geometry.assign(r, t)
   C.br_tensor_changed(r)
   for d = 0, n - 1 do
      if sizes[d + 1] < 1 then
         r.nDimension = d
         break
      elseif r.size[d] == 1 then
         r.size[d], r.stride[d] = sizes[d + 1], 0
      end
   end
   object.keep(source)
   return result
end

-- expand([result,] source, sizes): stride 0 where the size was 1.
function methods.expand(...)
   local self, other = ...
   local r
   tensor(1, self)
   if object.dtype(other) then
      r = expand(...)
   else
      r = expand(nil, ...)
   end
   return r
end

function methods:expandAs(other, template)
   tensor(1, self)
   tensor(2, other)
   if template then
      tensor(3, template)
      return self:expand(other, template:size())
   end
   return self:expand(other:size())
end

local EXPECTED = 'torch.view, expected (torch.Tensor, torch.Tensor, number [, number ]*) or\n (torch.Tensor, ' ..
   'torch.Tensor, torch.LongStorage) or\n (torch.Tensor, torch.LongStorage)\n or (torch.Tensor, number [, number ]*)'

-- Do sizes stand here: one LongStorage, or numbers?
local function sized(first, ...)
   return type(first) == 'number' or object.storagetype(first) == LONG and select('#', ...) == 0
end

-- The sizes of a view of `total` elements; one of them may be -1, which stands for what is left.
local function complete(total, sizes)
   local known, missing = 1, nil
   for i = 1, #sizes do
      if sizes[i] ~= -1 then
         known = known * sizes[i]
      elseif missing then
         raise('Only one of torch.view dimensions can be -1.')
      else
         missing = i
      end
   end
   if missing then
      if total % known ~= 0 then
         error('The number of covered elements is not a multiple of all elements.', 0)
      end
      sizes[missing] = total / known
   end
   return sizes
end

local function view(result, source, ...)
   local t = object.tensor(source)
   local total = geometry.elements(t)
   local sizes = complete(total, list(...))
   if not geometry.contiguous(t) then
      error('expecting a contiguous tensor', 0)
   elseif t.storage == nil then
      raise("bad argument #1 to 'set' (expecting number or %s or %s)", elements[t.dtype].tensortype,
         elements[t.dtype].storagetype)
   end
   local n, count = geometry.sizes(sizes, #sizes), 1
   for d = 1, n do
      count = count * sizes[d]
   end
   if (n > 0 and count or 0) ~= total then
      raise('Wrong size for view. Input size: %s. Output size: %s',
         (geometry.describe(t):sub(2, -2):gsub(' ', '')), table.concat(sizes, 'x'))
   end
   for d = 0, n - 1 do
      object.scratch[geometry.STRIDES + d] = -1
   end
   result = result or object.newtensor(t.dtype)
   geometry.setstorage(object.tensor(result), t.storage, t.storageOffset, n)
   object.keep(source)
   return result
end

-- view([result,] source, sizes): the same elements in another shape.
function methods.view(...)
   local self, other = ...
   local r
   if object.dtype(self) and sized(select(2, ...)) then
      r = view(nil, ...)
   elseif object.dtype(self) and object.dtype(other) and sized(select(3, ...)) then
      tensor(2, other, object.dtype(self))
      r = view(...)
   else
      raise(EXPECTED)
   end
   return r
end

function methods:viewAs(other, template)
   tensor(1, self)
   if template ~= nil and not object.dtype(template) then
      raise('expecting (torch.Tensor, torch.Tensor, torch.LongStorage) or (torch.Tensor, torch.LongStorage)')
   end
   tensor(2, other)
   if template then
      return self:view(other, template:size())
   end
   return self:view(other:size())
end

-- A new dimension of size 1 in front of dimension d.
function methods:unsqueeze(d)
   local t = tensor(1, self)
   local n = t.nDimension
   d = integer(2, d)
   if d < 1 or d > n + 1 then
      bad(2, 'dimension out of range')
   elseif n == 0 then
      bad(2, 'cannot unsqueeze empty tensor')
   end
   d = d - 1
   local userdata = alias(self)
   local r = object.tensor(userdata)
   geometry.reserve(r, n + 1)
   for k = 0, n do
      local from = k < d and k or k - 1
      if k == d then
         r.size[k], r.stride[k] = 1, k < n and t.size[k] * t.stride[k] or 1
      else
         r.size[k], r.stride[k] = t.size[from], t.stride[from]
      end
   end
   r.nDimension = n + 1
   object.keep(self)
   return userdata
end

arguments.publish(methods)

return function(torch)
   for id = 0, elements.count - 1 do
      local metatable = object.metatables[id]
      for name, method in pairs(methods) do
         metatable[name] = method
      end
   end
   for _, name in ipairs{'expand', 'expandAs', 'view', 'viewAs', 'permute'} do
      torch[name] = methods[name]
   end
end
