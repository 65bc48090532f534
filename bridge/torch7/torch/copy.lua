-- Copies: between tensors of any type and shape, clones, contiguous ones, conversions.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local kernels = require 'torch.kernels'

local raise, tensor = arguments.raise, arguments.tensor
local copy = kernels.copy

local methods = {}

function methods.copy(...)
   local self, source = ...
   tensor(1, self)
   if not object.dtype(source) then
      arguments.missing(2, 'torch.*Tensor', source, select('#', ...))
   end
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
   local t = tensor(1, self)
   return fresh(self, t.dtype)
end

function methods:contiguous()
   local t = tensor(1, self)
   return geometry.contiguous(t) and self or fresh(self, t.dtype)
end

-- A method: the same elements as type id.
local function converter(id)
   return arguments.public(function(self)
      local t = tensor(1, self)
      return t.dtype == id and self or fresh(self, id)
   end)
end

for id = 0, elements.count - 1 do
   methods[elements[id].name:lower()] = converter(id)
end

-- The same elements as the default type.
function methods:real()
   return self:type(elements[object.default].tensortype)
end

-- type(): the type's name. type(name): the same elements as that type, itself if it has it already.
function methods:type(name)
   local t = tensor(1, self)
   if not name then
      return elements[t.dtype].tensortype
   elseif name == elements[t.dtype].tensortype then
      return self
   elseif elements.named[name] then
      return fresh(self, elements.named[name].id)
   end
   raise('attempt to index a nil value')
end

function methods:typeAs(other)
   tensor(2, other)
   return methods.type(self, other:type())
end

arguments.publish(methods)

local function install()
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
end

return setmetatable({converter = converter}, {
   __call = function(_, torch)
      install(torch)
   end
})
