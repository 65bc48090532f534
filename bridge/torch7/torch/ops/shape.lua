-- Other shapes of the same elements: squeeze, reshape; and cat, which joins tensors along a dimension.
local native = require 'bridge.native'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local types = require 'torch.ops.types'

local C = native.C
local pointer, scratch = object.tensor, object.scratch
local bad, raise = arguments.bad, arguments.raise

-- What a squeezed tensor is for programs: of a single element, the number.
local function squeezed(r)
   local t = pointer(r)
   if t.nDimension == 1 and t.size[0] == 1 then
      local value = index.read[t.dtype](t, t.storageOffset)
      object.keep(r)
      return value
   end
   return r
end

-- Make r a view of the source without dimensions of size 1.
local function squeeze(r, source)
   local t = pointer(r)
   if r ~= source then
      geometry.assign(t, pointer(source))
   end
   C.br_tensor_changed(t)
   local n = 0
   for d = 0, t.nDimension - 1 do
      if t.size[d] ~= 1 then
         t.size[n], t.stride[n] = t.size[d], t.stride[d]
         n = n + 1
      end
   end
   if n == 0 and t.nDimension > 0 then
      t.size[0], t.stride[0], n = 1, 1, 1
   end
   t.nDimension = n
   return squeezed(r)
end

-- Without the dimension d, if its size is 1 and it is not the only one.
local function squeezeOne(r, source, d)
   local t, from = pointer(r), pointer(source)
   local before = from.nDimension
   if d < 1 or d > before then
      arguments.beyond(2, d, 1, before, 'dimension out of range')
   elseif r ~= source then
      geometry.assign(t, from)
   end
   C.br_tensor_changed(t)
   if before > 1 and t.size[d - 1] == 1 then
      for k = d - 1, before - 2 do
         t.size[k], t.stride[k] = t.size[k + 1], t.stride[k + 1]
      end
      t.nDimension = before - 1
   end
   return before <= 1 and squeezed(r) or r
end

local function reshape(r, source, ...)
   geometry.resize(pointer(r), geometry.sizeslike(...))
   kernels.copy(r, source)
   return r
end

-- The size along d (an offset): an empty tensor has none, any other one beyond its dimensions.
local function extent(t, d)
   return d < t.nDimension and tonumber(t.size[d]) or t.nDimension > 0 and 1 or 0
end

-- Put the sizes of what joins the tensors along d into scratch; false if all are empty.
local function joined(list, n, d)
   local empty = true
   for k = 0, n - 1 do
      local size = extent(pointer(list[1]), k)
      for i = 2, #list do
         local other = extent(pointer(list[i]), k)
         if k == d then
            size = size + other
         elseif size ~= other and size > 0 and other > 0 then
            raise('inconsistent tensor sizes')
         else
            size = size > 0 and size or other
         end
      end
      scratch[k], empty = size, empty and size == 0
   end
   return not empty
end

-- Copy a tensor to the next part of `room`, a view of the result that goes from part to part along d (an offset).
local function place(room, source, d, size)
   local view = pointer(room)
   view.size[d] = size
   C.br_tensor_changed(view)
   kernels.copy(room, source)
   view.storageOffset = view.storageOffset + size * view.stride[d]
end

-- Join the tensors in `list` along d: along the last of all their dimensions, if it is -1.
local function concatenate(r, list, d)
   local n, shared = d, false
   for i = 1, #list do
      local t = pointer(list[i])
      n = math.max(n, t.nDimension)
      shared = shared or t.storage ~= nil and t.storage == pointer(r).storage
   end
   if d < 1 and d ~= -1 then
      bad(4, 'invalid dimension %d', d)
   end
   geometry.limited(n)
   d = d == -1 and math.max(n - 1, 0) or d - 1
   -- An operand of the result is read after that got its sizes.
   local target = shared and object.newtensor(pointer(r).dtype) or r
   if not joined(list, n, d) then
      return
   end
   geometry.resize(pointer(target), n)
   local room = geometry.alias(target)
   for i = 1, #list do
      local size = extent(pointer(list[i]), d)
      if size > 0 then
         place(room, list[i], d, size)
      end
   end
   if shared then
      geometry.resizeas(pointer(r), pointer(target))
      kernels.copy(r, target)
   end
end

-- Two vectors into another tensor's memory: without a loop, so that LuaJIT compiles the caller's as a whole.
local function joinvectors(r, a, b)
   local first, second = tonumber(pointer(a).size[0]), tonumber(pointer(b).size[0])
   geometry.resize1(pointer(r), first + second)
   local room = geometry.alias(r)
   place(room, a, 0, first)
   place(room, b, 0, second)
end

local function cat(r, a, b, d)
   local left, right, storage = pointer(a), pointer(b), pointer(r).storage
   if left.nDimension == 1 and right.nDimension == 1 and (d == -1 or d == 1)
      and left.storage ~= storage and right.storage ~= storage then
      joinvectors(r, a, b)
   else
      concatenate(r, {a, b}, d)
   end
   return r
end

local function catArray(r, list, d)
   local dtype = pointer(r).dtype
   for i = 1, #list do
      if object.dtype(list[i]) ~= dtype then
         raise('expected %s in tensor array', arguments.describe(r))
      end
   end
   concatenate(r, list, d)
   return r
end

return {
   {name = 'squeeze', types = types.ALL, forms = {'[*T] T', squeeze, '[*T] T index', squeezeOne}},
   {name = 'reshape', types = types.ALL, forms = {'[*T] T sizes', reshape}},
   {name = 'cat', types = types.NUMERIC, forms = {'[*T] T T [index=-1]', cat, '[*T] {T+} [index=-1]', catArray}},
}
