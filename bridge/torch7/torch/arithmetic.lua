-- The operators between tensors and numbers: t + 1, 2 * t, a * b, -t, t % 3.
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'

local dtype = object.dtype

-- What stands on the wrong side of an operator.
local function expected(argument, value)
   error(string.format("bad argument #%d to '?' (number expected, got %s)", argument, type(value)), 3)
end

-- A tensor for what comes of t and takes its sizes; on a device, one that is where t is.
local function result(t)
   return dtype(t) < elements.DEVICE and t.new() or t:clone()
end

local operators = {}

function operators.__add__(a, b)
   if dtype(a) and dtype(a) == dtype(b) then
      return result(a):add(a, b)
   elseif dtype(a) then
      return result(a):add(a, arguments.number(b) or expected(2, b))
   end
   return result(b):add(b, arguments.number(a) or expected(1, a))
end

function operators.__sub__(a, b)
   if dtype(a) and dtype(a) == dtype(b) then
      return result(a):add(a, -1, b)
   elseif dtype(a) then
      return result(a):add(a, -(arguments.number(b) or expected(2, b)))
   end
   local r = b.new():resizeAs(b):fill(arguments.number(a) or expected(1, a))
   return r:add(-1, b)
end

function operators.__unm__(a)
   return a.new():resizeAs(a):zero():add(-1, a)
end

function operators.__mul__(a, b)
   if not dtype(a) then
      return result(b):mul(b, arguments.number(a) or expected(1, a))
   elseif not dtype(b) or dtype(a) ~= dtype(b) then
      return result(a):mul(a, arguments.number(b) or expected(2, b))
   end
   local n, m = a:dim(), b:dim()
   if n == 1 and m == 1 then
      return a:dot(b)
   elseif n == 2 and m == 1 then
      return a.new():mv(a, b)
   elseif n == 2 and m == 2 then
      return a.new():mm(a, b)
   end
   error(string.format('multiplication between %dD and %dD tensors not yet supported', n, m), 2)
end

-- Torch7 says "boolean" of whatever stands there.
local function nothing(b)
   error(string.format("bad argument #1 to '?' (%s expected, got boolean)", elements[dtype(b)].tensortype), 3)
end

function operators.__div__(a, b)
   if not dtype(a) then
      nothing(b)
   elseif not arguments.number(b) then
      error("bad argument #2 to '?' (number expected)", 2)
   end
   return result(a):div(a, arguments.number(b))
end

function operators.__mod__(a, b)
   if not dtype(a) then
      nothing(b)
   end
   return result(a):remainder(a, arguments.number(b) or expected(2, b))
end

return function()
   for id = 0, elements.count - 1 do
      for name, operator in pairs(operators) do
         object.metatables[id][name] = operator
      end
   end
end
