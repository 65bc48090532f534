-- torch.CudaXTensor on a device: tensor types with numbers of their own, and the methods of the CPU's types. Where
-- those want the elements in host memory, they work on a copy.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local operations = require 'torch.operations'
local copying = require 'torch.copy'
local types = require 'torch.tensor'
local half = require 'cutorch.half'
local element = require 'cutorch.device.element'
local place = require 'cutorch.device.place'

local C = native.C
local DEVICE = elements.DEVICE
local tensor, host = object.tensor, place.host

-- Put what a function left in a copy on the CPU into its tensor on the device.
local function restore(given, made)
   local t = tensor(given)
   if not geometry.samesize(t, tensor(made)) then
      geometry.resizeas(t, tensor(made))
   end
   kernels.copy(given, made)
end

-- f on copies of its arguments on the CPU. The first `results` of its arguments are results.
local function onhost(f, results)
   return function(...)
      local given, copies, count = {...}, {}, select('#', ...)
      for i = 1, count do
         copies[i] = host(given[i])
      end
      local returned = {f(unpack(copies, 1, count))}
      for i = 1, results do
         if not rawequal(given[i], copies[i]) then
            restore(given[i], copies[i])
         end
      end
      for i = 1, #returned do
         local value = returned[i]
         for k = 1, count do
            value = rawequal(returned[i], copies[k]) and given[k] or value
         end
         returned[i] = object.dtype(value) and place.there(value) or value
      end
      return unpack(returned)
   end
end

local methods = {}

function methods:getDevice()
   local storage = tensor(self).storage
   return storage ~= nil and C.br_device_number(storage) + 1 or 0
end

function methods:totable()
   return host(self):totable()
end

for _, name in ipairs{'apply', 'map', 'map2'} do
   methods[name] = onhost(object.metatables[elements.Double.id][name], 1)
end

-- Text that ends with the type's own name.
local function text(kind)
   return function(self)
      local printed = tostring(host(self))
      local at = printed:find('[' .. kind.host.tensortype .. ' ', 1, true)
      return at and printed:sub(1, at) .. kind.tensortype .. printed:sub(at + 1 + #kind.host.tensortype) or printed
   end
end

-- A table of numbers is filled in on the CPU.
local function constructor(kind, new)
   local make = object.metatables[kind.id - DEVICE].new
   return function(...)
      local first = ...
      if type(first) == 'table' then
         return place.there(make(...))
      elseif object.storagetype(first) == kind.id then
         return new():set(...) -- a storage is memory, of sizes too
      end
      return new(...)
   end
end

-- Metamethods that a type has for itself.
local own = {__typename = true, __metatable = true, __constructor = true, __version = true, torch = true}

return function(torch, hidden)
   for id = DEVICE, DEVICE + elements.count - 1 do
      local kind = elements[id]
      types.build(kind, element, constructor)
      local metatable, base = object.metatables[id], object.metatables[id - DEVICE]
      for name, method in next, base do
         if not own[name] and rawget(metatable, name) == nil then
            metatable[name] = method
         end
      end
   end
   operations.extend(torch, onhost)
   local floats = object.metatables[DEVICE + elements.Float.id]
   for name, method in pairs(half(floats)) do
      object.metatables[DEVICE + elements.Half.id][name] = method
   end
   for id = DEVICE, DEVICE + elements.count - 1 do
      local kind, metatable = elements[id], object.metatables[id]
      for name, method in pairs(methods) do
         metatable[name] = method
      end
      metatable.__tostring__ = text(kind)
      if hidden then
         function metatable.data()
            error('the memory of this tensor is on the device: there is no pointer to it (MOONTIDE_CUDA=aten)', 2)
         end
      end
   end
   -- t:cuda(), t:cudaLong(), ...: of every type.
   for id = DEVICE, DEVICE + elements.count - 1 do
      local name = elements[id].conversion
      local convert = copying.converter(id)
      for _, metatable in pairs(object.metatables) do
         metatable[name] = convert
      end
   end
end
