-- Tensors from tensors: cat, split, chunk, repeatTensor.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local views = require 'torch.views'

local pointer, scratch = object.tensor, object.scratch
local tensor, fail, integer = arguments.tensor, arguments.fail, arguments.integer

local methods = {}

-- The size of t in dimension d; those behind its last have size 1.
local function extent(t, d)
   return d <= t.nDimension and tonumber(t.size[d - 1]) or 1
end

-- The tensors of a list that have dimensions, the most dimensions of one, and whether one shares memory with r.
local function collect(list, r)
   local parts, n, shared = {}, 1, false
   for i = 1, #list do
      local t = tensor(2, 'cat', list[i], r.dtype)
      if t.nDimension > 0 then
         parts[#parts + 1] = list[i]
         n = math.max(n, t.nDimension)
         shared = shared or r.storage ~= nil and t.storage == r.storage
      end
   end
   return parts, n, shared
end

-- Put the sizes of the parts, one behind the other in dimension d, into scratch.
local function joined(parts, n, d)
   local first, total = pointer(parts[1]), 0
   for i = 1, #parts do
      local t = pointer(parts[i])
      for k = 1, n do
         if k ~= d and extent(t, k) ~= extent(first, k) then
            error('inconsistent tensor sizes', 4)
         end
      end
      total = total + extent(t, d)
   end
   for k = 1, n do
      scratch[k - 1] = k == d and total or extent(first, k)
   end
end

local function concatenate(r, list, d)
   local parts, n, shared = collect(list, pointer(r))
   if #parts == 0 then
      geometry.resize(pointer(r), 0)
      return r
   end
   d = d or n
   if d < 1 or d > n + 1 then
      fail(3, 'cat', 'invalid dimension ' .. d, 1)
   end
   n = math.max(n, d)
   joined(parts, n, d)
   local target = shared and object.newtensor(pointer(r).dtype) or r -- the result may be one of the parts
   geometry.resize(pointer(target), n)
   local room = geometry.alias(target) -- of one part after the other
   local view = pointer(room)
   for i = 1, #parts do
      view.size[d - 1] = extent(pointer(parts[i]), d)
      native.C.br_tensor_changed(view)
      kernels.copy(room, parts[i])
      view.storageOffset = view.storageOffset + view.size[d - 1] * view.stride[d - 1]
   end
   if shared then
      geometry.resizeas(pointer(r), pointer(target))
      kernels.copy(r, target)
   end
   return r
end

-- cat([result,] a, b [, dimension]) or cat([result,] {tensors} [, dimension]).
function methods.cat(a, b, c, d)
   local given = {a, b, c, d}
   local tensors, last = {}, nil
   for i = 1, 4 do
      local value = given[i]
      if object.dtype(value) then
         tensors[#tensors + 1] = value
      elseif type(value) == 'table' then
         local dtype = #tensors > 0 and object.dtype(tensors[1]) or object.dtype(value[1])
         if not dtype then
            fail(1, '?', 'expected a table of tensors')
         end
         local result = tensors[1] or object.newtensor(dtype)
         return concatenate(result, value, given[i + 1] and integer(i + 1, 'cat', given[i + 1]))
      elseif value ~= nil then
         last = integer(i, 'cat', value)
      end
   end
   if #tensors == 3 then
      return concatenate(tensors[1], {tensors[2], tensors[3]}, last)
   elseif #tensors == 2 then
      return concatenate(object.newtensor(object.dtype(tensors[1])), tensors, last)
   end
   error('invalid arguments: cat takes two tensors, or a table of tensors', 2)
end

-- The arguments of a function that takes an optional result (a table) first.
local function list(first, ...)
   if type(first) == 'table' then
      for i = #first, 1, -1 do
         first[i] = nil
      end
      return first, ...
   end
   return {}, first, ...
end

local function pieces(name, result, source, size, d)
   local t = tensor(1, name, source)
   size = integer(2, name, size)
   d = d and integer(3, name, d) or 1
   if t.nDimension == 0 or d < 1 or d > t.nDimension then
      fail(3, name, 'dimension out of range', 1)
   elseif size < 1 then
      fail(2, name, 'size must be positive', 1)
   end
   return t, size, d, tonumber(t.size[d - 1]), result
end

local function cut(result, source, size, d, length)
   for first = 1, length, size do
      result[#result + 1] = source:narrow(d, first, math.min(size, length - first + 1))
   end
   return result
end

-- split([result,] tensor, size [, dimension]): narrowed views of that size; the last may be smaller.
function methods.split(...)
   local result, source, size, d = list(...)
   local _, length
   _, size, d, length = pieces('split', result, source, size, d)
   return cut(result, source, size, d, length)
end

-- chunk([result,] tensor, n [, dimension]): at most n views of equal size.
function methods.chunk(...)
   local result, source, n, d = list(...)
   local _, length
   _, n, d, length = pieces('chunk', result, source, n, d)
   return cut(result, source, math.ceil(length / n), d, length)
end

-- repeatTensor([result,] tensor, counts).
function methods.repeatTensor(first, second, ...)
   local r, source, counts
   local t = tensor(1, 'repeatTensor', first)
   if object.dtype(second) then
      r, source, counts = first, second, views.list('repeatTensor', ...)
      tensor(2, 'repeatTensor', second, t.dtype)
      t = pointer(second)
   else
      r, source, counts = object.newtensor(t.dtype), first, views.list('repeatTensor', second, ...)
   end
   local n = t.nDimension
   if #counts < n then
      error('Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor', 2)
   end
   source = source:contiguous()
   if n > 0 and pointer(r).storage == pointer(source).storage then
      source = source:clone() -- x:repeatTensor(x, 3, 1) gives x the new size before it is read
   end
   local dims, shape, extended = #counts, {}, {}
   for k = 1, dims do
      if counts[k] < 1 then
         fail(k + 1, 'repeatTensor', 'counts must be positive')
      end
      local size = k > dims - n and tonumber(t.size[k - 1 - (dims - n)]) or 1
      shape[2 * k - 1], shape[2 * k] = 1, size
      extended[2 * k - 1], extended[2 * k] = counts[k], size
      scratch[k - 1] = counts[k] * size
   end
   if n > 0 then
      geometry.resize(pointer(r), dims)
      local whole = geometry.contiguous(pointer(r)) and r or r:clone()
      whole:view(unpack(extended)):copy(source:view(unpack(shape)):expand(unpack(extended)))
      if whole ~= r then
         r:copy(whole)
      end
   else
      geometry.resize(pointer(r), 0)
   end
   return r
end

return function(torch)
   for name, method in pairs(methods) do
      torch[name] = method
      for id = 0, elements.count - 1 do
         object.metatables[id][name] = method
      end
   end
end
