-- Copies: between tensors of any type and shape, clones, contiguous ones, conversions.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local kernels = require 'torch.kernels'

local tensor = arguments.tensor
local copy = kernels.copy

local methods = {}

function methods:copy(source)
   tensor(1, 'copy', self)
   tensor(2, 'copy', source)
   copy(self, source)
   return self
end

-- A contiguous tensor of type dtype with the elements and sizes of another.
local function fresh(source, dtype)
   local result = object.newtensor(dtype)
   geometry.resizeas(object.tensor(result), object.tensor(source))
   copy(result, source)
   return result
end

function methods:clone()
   local t = tensor(1, 'clone', self)
   return fresh(self, t.dtype)
end

function methods:contiguous()
   local t = tensor(1, 'contiguous', self)
   return geometry.contiguous(t) and self or fresh(self, t.dtype)
end

-- The method `name`: the same elements as type id.
local function converter(name, id)
   return function(self)
      local t = tensor(1, name, self)
      return t.dtype == id and self or fresh(self, id)
   end
end

for id = 0, elements.count - 1 do
   methods[elements[id].name:lower()] = converter(elements[id].name:lower(), id)
end
methods.real = methods.double

-- type(): the type's name. type(name): the same elements as that type, itself if it has it already.
function methods:type(name)
   local t = tensor(1, 'type', self)
   if name == nil then
      return elements[t.dtype].tensortype
   elseif name == elements[t.dtype].tensortype then
      return self
   elseif elements.named[name] then
      return fresh(self, elements.named[name].id)
   end
   error('attempt to index a nil value', 2)
end

function methods:typeAs(other)
   tensor(2, 'typeAs', other)
   return methods.type(self, other:type())
end

function methods:reshape(first, ...)
   local t = tensor(1, 'reshape', self)
   if object.dtype(first) then
      tensor(2, 'reshape', first, t.dtype)
      local flat = fresh(first, t.dtype):view(...)
      geometry.resizeas(object.tensor(self), object.tensor(flat))
      copy(self, flat)
      return self
   end
   return fresh(self, t.dtype):view(first, ...)
end

local function install(torch)
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
   torch.reshape = methods.reshape
end

return setmetatable({converter = converter}, {
   __call = function(_, torch)
      install(torch)
   end
})
