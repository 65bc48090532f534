-- Between CPU and CUDA tensors: t:cuda(), t:cudaLong(), ..., t:float(), ..., t:type(name), t:typeAs(other).
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local types = require 'cutorch.types'
local retag = require 'cutorch.retag'

return function(torch)
   local targets = {} -- type name -> {id, metatable}
   for id = 0, elements.count - 1 do
      targets[elements[id].tensortype] = {id = id, metatable = object.metatables[id]}
      targets[types[id].tensortype] = {id = id, metatable = retag.twins[object.metatables[id]]}
   end

   -- `self` if it is of that type, else a contiguous copy.
   local function convert(self, target)
      if getmetatable(self) == target.metatable then
         return self
      end
      local result = object.newtensor(target.id)
      geometry.resizeas(object.tensor(result), object.tensor(self))
      kernels.copy(result, self)
      debug.setmetatable(result, target.metatable) -- returns no object here
      return result
   end

   local function converter(target)
      return function(self)
         arguments.tensor(1, self)
         return convert(self, target)
      end
   end

   local methods = {}

   function methods:type(name)
      arguments.tensor(1, self)
      if name == nil then
         return getmetatable(self).__typename
      end
      local target = targets[name] or error('attempt to index a nil value', 2)
      return convert(self, target)
   end

   function methods:typeAs(other)
      arguments.tensor(2, other)
      return methods.type(self, getmetatable(other).__typename)
   end

   for id = 0, elements.count - 1 do
      local name = elements[id].name:lower()
      methods[name] = converter(targets[elements[id].tensortype])
      methods[types[id].conversion] = converter(targets[types[id].tensortype])
   end
   methods.real = methods.double

   for id = 0, elements.count - 1 do
      local base = object.metatables[id]
      for _, metatable in ipairs{base, retag.twins[base]} do
         for name, method in pairs(methods) do
            metatable[name] = method
         end
      end
   end

   -- torch.Tensor and torch.Storage become the constructors of a CUDA type too.
   local set, get = torch.setdefaulttensortype, torch.getdefaulttensortype
   local default -- the CUDA type that is the default, if one is

   function torch.setdefaulttensortype(name)
      for id = 0, elements.count - 1 do
         local kind = types[id]
         if kind.tensortype == name then
            set(kind.element.tensortype)
            torch.Tensor, torch.Storage = torch[kind.name .. 'Tensor'], torch[kind.name .. 'Storage']
            default = name
            return
         end
      end
      set(name)
      default = nil
   end

   function torch.getdefaulttensortype()
      return default or get()
   end
end
