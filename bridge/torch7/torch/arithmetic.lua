-- The operators between tensors and numbers: t + 1, 2 * t, a * b, -t, t % 3.
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'

local dtype = object.dtype

-- A number beside a tensor. The faults of operators have no name and no position: another function calls them.
local function scalar(argument, value)
   local number = arguments.number(value)
   if not number then
      error(string.format("bad argument #%d to '?' (number expected, got %s)", argument, type(value)), 0)
   end
   return number
end

-- A tensor for what comes of t and takes its sizes; on a device, one that is where t is.
local function result(t)
   return dtype(t) < elements.DEVICE and t.new() or t:clone()
end

local operators = {}
local mv, mm

function operators.__add__(a, b)
   if not dtype(a) then
      return result(b):add(b, scalar(1, a))
   elseif dtype(a) == dtype(b) then
      return result(a):add(a, b)
   end
   return result(a):add(a, scalar(2, b))
end

function operators.__sub__(a, b)
   if not dtype(a) then
      local r = b.new():resizeAs(b):fill(scalar(1, a))
      return r:add(-1, b)
   elseif dtype(a) == dtype(b) then
      return result(a):add(a, -1, b)
   end
   return result(a):add(a, -scalar(2, b))
end

function operators.__unm__(a)
   return a:clone():mul(-1)
end

function operators.__mul__(a, b)
   if not dtype(a) then
      return result(b):mul(b, scalar(1, a))
   elseif dtype(a) ~= dtype(b) then
      return result(a):mul(a, scalar(2, b))
   end
   local n, m = a:dim(), b:dim()
   if n == 1 and m == 1 then
      return a:dot(b)
   elseif n == 2 and m == 1 then
      return mv(a, b)
   elseif n == 2 and m == 2 then
      return mm(a, b)
   end
   error(string.format('multiplication between %dD and %dD tensors not yet supported', n, m), 0)
end

-- A tensor has to stand first. Torch7 says "boolean" of whatever stands there.
local function first(a, b)
   if not dtype(a) then
      error(string.format("bad argument #1 to '?' (%s expected, got boolean)", elements[dtype(b)].tensortype), 0)
   end
end

function operators.__div__(a, b)
   first(a, b)
   if not arguments.number(b) then
      error("bad argument #2 to '?' (number expected)", 0)
   end
   return result(a):div(a, arguments.number(b))
end

function operators.__mod__(a, b)
   first(a, b)
   if not arguments.number(b) then
      error("bad argument #2 to '?' (number expected)", 0)
   end
   return result(a):remainder(a, arguments.number(b))
end

return function(torch)
   mv, mm = torch.mv, torch.mm
   for id = 0, elements.count - 1 do
      for name, operator in pairs(operators) do
         object.metatables[id][name] = operator
      end
   end
end
