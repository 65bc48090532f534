-- Tensors from tensors: split, chunk, repeatTensor.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'

local pointer, scratch = object.tensor, object.scratch
local tensor, bad, raise, integer = arguments.tensor, arguments.bad, arguments.raise, arguments.integer

local methods = {}

-- The arguments of a function that takes an optional result first: a table, which is emptied.
local function leading(first, ...)
   if arguments.typename(first) ~= 'table' then
      return {}, first, ...
   end
   for key in pairs(first) do
      first[key] = nil
   end
   return first, ...
end

local function cut(result, source, size, d)
   local extent, first = source:size(d), 1
   while first <= extent do
      local length = math.min(size, extent - first + 1)
      result[#result + 1] = source:narrow(d, first, length)
      first = first + length
   end
   return result
end

-- split([result,] tensor, size [, dimension]): narrowed views of that size; the last may be smaller.
function methods.split(...)
   local result, source, size, d = leading(...)
   return cut(result, source, size, d or 1)
end

-- chunk([result,] tensor, n [, dimension]): at most n views of equal size.
function methods.chunk(...)
   local result, source, n, d = leading(...)
   d = d or 1
   return cut(result, source, math.ceil(source:size(d) / n), d)
end

-- The elements of one LongStorage, or numbers, of which the first is argument `at`.
local function list(at, first, ...)
   if object.storagetype(first) == elements.Long.id then
      return first:totable()
   end
   local counts = {first, ...}
   for i = 1, #counts do
      counts[i] = integer(at + i - 1, counts[i], at + #counts - 1)
   end
   return counts
end

-- repeatTensor([result,] tensor, counts).
function methods.repeatTensor(...)
   local first, second = ...
   local r, source, counts
   local t = tensor(1, first)
   if object.dtype(second) then
      r, source, counts = first, second, list(3, select(3, ...))
      t = tensor(2, second, t.dtype)
   else
      r, source, counts = object.newtensor(t.dtype), first, list(2, select(2, ...))
   end
   local n = t.nDimension
   if #counts < n then
      raise('Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor')
   end
   geometry.limited(#counts)
   source = source:contiguous()
   if n > 0 and pointer(r).storage == pointer(source).storage then
      source = source:clone() -- x:repeatTensor(x, 3, 1) gives x the new size before it is read
   end
   local dims, shape, extended = #counts, {}, {}
   for k = 1, dims do
      if counts[k] < 1 then
         bad(k + 1, 'counts must be positive')
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

arguments.publish(methods)

return function(torch)
   for name, method in pairs(methods) do
      torch[name] = method
      for id = 0, elements.count - 1 do
         object.metatables[id][name] = method
      end
   end
end
