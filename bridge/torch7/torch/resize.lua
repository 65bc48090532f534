-- Changing what a tensor is in place: resize, resizeAs, set.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local construct = require 'torch.construct'

local scratch = object.scratch
local fail, tensor, number = arguments.fail, arguments.tensor, arguments.number
local LONG = elements.Long.id

local methods = {}

-- resize(sizes), resize(LongStorage of sizes [, of strides]).
function methods:resize(a, b, ...)
   local t = tensor(1, 'resize', self)
   if type(a) == 'number' and (b == nil or type(b) == 'number' and select('#', ...) == 0) then
      scratch[0], scratch[1] = a, b or 0
      geometry.resize(t, a < 1 and 0 or (b == nil or b < 1) and 1 or 2)
      return self
   elseif object.storagetype(a) == LONG then
      local n = geometry.sizesof(object.storage(a))
      if b ~= nil then
         if object.storagetype(b) ~= LONG or object.storage(b).size ~= object.storage(a).size then
            error('provided stride and size are inconsistent', 2)
         end
         local strides = b:totable()
         for d = 0, n - 1 do
            scratch[geometry.STRIDES + d] = strides[d + 1]
         end
      end
      geometry.resize(t, n, b ~= nil)
      return self
   end
   local sizes = {a, b, ...}
   local count = select('#', ...) + (b ~= nil and 2 or a ~= nil and 1 or 0)
   for i = 1, count do
      local size = number(sizes[i])
      if not size then
         fail(i + 1, 'resize', 'number expected, got ' .. type(sizes[i]))
      end
      sizes[i] = size
   end
   geometry.resize(t, geometry.sizes(sizes, count))
   return self
end

function methods:resizeAs(other)
   local t = tensor(1, 'resizeAs', self)
   geometry.resizeas(t, tensor(2, 'resizeAs', other, t.dtype))
   return self
end

-- set(), set(tensor), set(storage [, offset, sizes ...]).
function methods:set(source, ...)
   local t = tensor(1, 'set', self)
   if source == nil then
      geometry.set(t, nil, 0, 0)
   elseif object.dtype(source) == t.dtype then
      geometry.assign(t, object.tensor(source))
   elseif object.storagetype(source) == t.dtype then
      construct.setStorage(t, object.storage(source), ...)
   else
      local element = elements[t.dtype]
      fail(2, 'set', string.format('expecting number or %s or %s', element.tensortype, element.storagetype))
   end
   return self
end

return function()
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
end
