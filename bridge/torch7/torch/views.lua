-- Other views of the same memory: narrow, select, transpose, unfold, expand, squeeze, view.
local elements = require 'torch.elements'
local native = require 'bridge.native'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'

local C = native.C
local fail, integer, tensor = arguments.fail, arguments.integer, arguments.tensor
local alias = geometry.alias
local LONG = elements.Long.id

local methods = {}

-- A dimension given 1-based, as 0-based.
local function dimension(argument, name, t, d)
   d = integer(argument, name, d)
   if d < 1 or d > t.nDimension then
      arguments.beyond(d, 1, t.nDimension, argument, name, 'out of range', 1)
   end
   return d - 1
end

function methods:narrow(d, first, size)
   local t = tensor(1, 'narrow', self)
   d = dimension(2, 'narrow', t, d)
   first, size = integer(3, 'narrow', first), integer(4, 'narrow', size)
   local extent = tonumber(t.size[d])
   if first < 1 or first > extent then
      arguments.beyond(first, 1, extent, 3, 'narrow', 'out of range')
   elseif size <= 0 or first + size - 1 > extent then
      fail(4, 'narrow', 'out of range')
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   r.storageOffset = r.storageOffset + (first - 1) * r.stride[d]
   r.size[d] = size
   return userdata
end

-- One slice along a dimension; of a tensor with one dimension, a number.
function methods:select(d, i)
   local t = tensor(1, 'select', self)
   d = dimension(2, 'select', t, d)
   local given = integer(3, 'select', i)
   i = given < 0 and given + tonumber(t.size[d]) + 1 or given
   if i < 1 or i > t.size[d] then
      arguments.beyond(given, 1, t.size[d], 3, 'select', 'out of range')
   end
   local offset = t.storageOffset + (i - 1) * t.stride[d]
   if t.nDimension == 1 then
      local value = index.read[t.dtype](t, offset)
      object.keep(self)
      return value
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   r.storageOffset = offset
   for k = d, r.nDimension - 2 do
      r.size[k], r.stride[k] = r.size[k + 1], r.stride[k + 1]
   end
   r.nDimension = r.nDimension - 1
   return userdata
end

-- sub(first1, last1, first2, last2, ...): negative positions count from the end.
function methods:sub(...)
   tensor(1, 'sub', self)
   local userdata = alias(self)
   local r = object.tensor(userdata)
   for d = 0, math.floor((select('#', ...) + 1) / 2) - 1 do
      local first, last = select(2 * d + 1, ...)
      if d >= r.nDimension then
         fail(2 * d + 2, 'sub', 'invalid dimension')
      end
      local size = tonumber(r.size[d])
      first, last = integer(2 * d + 2, 'sub', first), integer(2 * d + 3, 'sub', last)
      first = first < 0 and first + size or first - 1
      last = last < 0 and last + size or last - 1
      if first < 0 or first >= size then
         arguments.beyond(select(2 * d + 1, ...), 1, size, 2 * d + 2, 'sub', 'out of range')
      elseif last < first or last >= size then
         arguments.beyond(select(2 * d + 2, ...), first + 1, size, 2 * d + 3, 'sub', 'out of range')
      end
      r.storageOffset = r.storageOffset + first * r.stride[d]
      r.size[d] = last - first + 1
   end
   return userdata
end

local function swap(r, a, b)
   r.size[a], r.size[b] = r.size[b], r.size[a]
   r.stride[a], r.stride[b] = r.stride[b], r.stride[a]
end

function methods:transpose(a, b)
   local t = tensor(1, 'transpose', self)
   a, b = dimension(2, 'transpose', t, a), dimension(2, 'transpose', t, b)
   local userdata = alias(self)
   swap(object.tensor(userdata), a, b)
   return userdata
end

function methods:t()
   local t = tensor(1, 't', self)
   if t.nDimension ~= 2 then
      error("bad argument #1 to 't' (Tensor must have 2 dimensions)", 2)
   end
   local userdata = alias(self)
   swap(object.tensor(userdata), 0, 1)
   return userdata
end

function methods:permute(...)
   local t = tensor(1, 'permute', self)
   local n, seen = t.nDimension, {}
   if select('#', ...) ~= n then
      error('invalid permutation: ' .. n .. ' dimensions expected', 2)
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   for k = 1, n do
      local d = dimension(k + 1, 'permute', t, (select(k, ...)))
      if seen[d] then
         error('invalid permutation: dimension ' .. d + 1 .. ' appears twice', 2)
      end
      seen[d] = true
      r.size[k - 1], r.stride[k - 1] = t.size[d], t.stride[d]
   end
   object.keep(self)
   return userdata
end

-- All windows of `size` elements, `step` apart, along a dimension; they become the last dimension.
function methods:unfold(d, size, step)
   local t = tensor(1, 'unfold', self)
   local n = t.nDimension
   d = dimension(2, 'unfold', t, d)
   size, step = integer(3, 'unfold', size), integer(4, 'unfold', step)
   if size < 1 or size > t.size[d] then
      fail(3, 'unfold', 'out of range')
   elseif step < 1 then
      fail(4, 'unfold', 'invalid step')
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

-- Numbers, or one LongStorage of them, as a list.
local function list(name, first, ...)
   local sizes
   if object.storagetype(first) == LONG then
      sizes = first:totable()
   else
      sizes = {first, ...}
   end
   for i = 1, #sizes do
      sizes[i] = integer(i + 1, name, sizes[i])
   end
   return sizes
end

local function expand(result, source, sizes)
   local r, t = object.tensor(result), object.tensor(source)
   local n = t.nDimension
   if #sizes ~= n then
      error('the number of dimensions provided must equal tensor:dim()', 3)
   end
   for d = 0, n - 1 do
      if t.size[d] ~= 1 and t.size[d] ~= sizes[d + 1] then
         error('incorrect size: only supporting singleton expansion (size=1)', 3)
      elseif sizes[d + 1] < 1 then
         error('sizes must be positive', 3)
      end
   end
   geometry.assign(r, t)
   C.br_tensor_changed(r)
   for d = 0, n - 1 do
      if r.size[d] == 1 then
         r.size[d], r.stride[d] = sizes[d + 1], 0
      end
   end
   object.keep(result, source)
   return result
end

-- expand([result,] sizes): stride 0 where the size was 1.
function methods:expand(first, ...)
   local t = tensor(1, 'expand', self)
   if object.dtype(first) then
      tensor(2, 'expand', first, t.dtype)
      return expand(self, first, list('expand', ...))
   end
   return expand(object.newtensor(t.dtype), self, list('expand', first, ...))
end

function methods:expandAs(other, template)
   if template ~= nil then
      tensor(2, 'expandAs', other)
      tensor(3, 'expandAs', template)
      return methods.expand(self, other, template:size())
   end
   tensor(2, 'expandAs', other)
   return methods.expand(self, other:size())
end

-- Without its dimensions of size 1; of a single element, the number.
function methods:squeeze(d)
   local t = tensor(1, 'squeeze', self)
   if d ~= nil then
      d = dimension(2, 'squeeze', t, d)
      local userdata = alias(self)
      local r = object.tensor(userdata)
      if r.size[d] == 1 and r.nDimension > 1 then
         for k = d, r.nDimension - 2 do
            r.size[k], r.stride[k] = r.size[k + 1], r.stride[k + 1]
         end
         r.nDimension = r.nDimension - 1
      end
      return userdata
   end
   local userdata = alias(self)
   local r = object.tensor(userdata)
   local n = 0
   for k = 0, r.nDimension - 1 do
      if r.size[k] ~= 1 then
         r.size[n], r.stride[n] = r.size[k], r.stride[k]
         n = n + 1
      end
   end
   if n == 0 and r.nDimension > 0 then
      local value = index.read[r.dtype](r, r.storageOffset)
      object.keep(userdata)
      return value
   end
   r.nDimension = n
   return userdata
end

-- A new dimension of size 1 in front of dimension d.
function methods:unsqueeze(d)
   local t = tensor(1, 'unsqueeze', self)
   local n = t.nDimension
   d = integer(2, 'unsqueeze', d)
   if d < 1 or d > n + 1 or n == 0 then
      fail(2, 'unsqueeze', 'out of range')
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

-- Sizes for view and reshape: one of them may be -1.
local function complete(t, sizes)
   local total, known, missing = geometry.elements(t), 1, nil
   for i = 1, #sizes do
      if sizes[i] == -1 and not missing then
         missing = i
      else
         known = known * sizes[i]
      end
   end
   if missing and known > 0 and total % known == 0 then
      sizes[missing] = total / known
      known = total
   end
   if known ~= total then
      error(string.format('Wrong size for view. Input size: %s. Output size: %s',
         geometry.describe(t):sub(2, -2):gsub(' ', ''), table.concat(sizes, 'x')), 4)
   end
   return sizes
end

local function view(result, source, sizes)
   local r, t = object.tensor(result), object.tensor(source)
   complete(t, sizes)
   if not geometry.contiguous(t) then
      error('expecting a contiguous tensor', 3)
   end
   local storage, offset = t.storage, t.storageOffset
   local n = geometry.sizes(sizes, #sizes)
   local stride = 1
   for d = n - 1, 0, -1 do
      object.scratch[geometry.STRIDES + d] = stride
      stride = stride * sizes[d + 1]
   end
   geometry.set(r, storage, offset, n)
   object.keep(result, source)
   return result
end

-- view([result,] sizes): the same elements in another shape.
function methods:view(first, ...)
   local t = tensor(1, 'view', self)
   if object.dtype(first) then
      tensor(2, 'view', first, t.dtype)
      return view(self, first, list('view', ...))
   end
   return view(object.newtensor(t.dtype), self, list('view', first, ...))
end

function methods:viewAs(other, template)
   if template ~= nil then
      tensor(3, 'viewAs', template)
      return methods.view(self, other, template:size())
   end
   tensor(2, 'viewAs', other)
   return methods.view(self, other:size())
end

local function install(torch)
   for id = 0, elements.count - 1 do
      local metatable = object.metatables[id]
      for name, method in pairs(methods) do
         metatable[name] = method
      end
   end
   for _, name in ipairs{'expand', 'expandAs', 'squeeze', 'view', 'viewAs', 'permute'} do
      torch[name] = methods[name]
   end
end

return setmetatable({list = list}, {
   __call = function(_, torch)
      install(torch)
   end
})
