-- Changing what a tensor is in place: resize, resizeAs, set.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local construct = require 'torch.construct'

local scratch = object.scratch
local tensor = arguments.tensor

local methods = {}

-- resize(sizes), resize(LongStorage of sizes [, of strides]).
function methods.resize(...)
   local self, a, b = ...
   local t, count = tensor(1, self), select('#', ...)
   if type(a) == 'number' and (count == 2 or count == 3 and type(b) == 'number') then
      scratch[0], scratch[1] = a, b or 0
      geometry.resize(t, a < 1 and 0 or (b == nil or b < 1) and 1 or 2)
   elseif count == 1 then
      geometry.resize(t, 0)
   else
      local n = construct.sizes(2, count, false, select(2, ...))
      geometry.resize(t, n, true)
   end
   return self
end

function methods:resizeAs(other)
   local t = tensor(1, self)
   local like = tensor(2, other, t.dtype)
   geometry.resizeas(t, like)
   return self
end

-- set(), set(tensor), set(storage [, offset, sizes ...]), set(sizes).
function methods.set(...)
   local self = ...
   local t = tensor(1, self)
   construct.set(t, t.dtype, 2, select('#', ...), select(2, ...))
   return self
end

arguments.publish(methods)

return function()
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
end
