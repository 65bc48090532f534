-- Copies: between tensors of any type and shape, clones, contiguous ones, conversions; element-wise Lua callbacks.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local kernels = require 'torch.kernels'
local index = require 'torch.index'

local C = native.C
local fail, tensor = arguments.fail, arguments.tensor
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

-- Call f with each element; a number that it returns becomes the element.
local function each(name, self, f, first, second)
   local t = tensor(1, name, self)
   if type(f) ~= 'function' and not (getmetatable(f) and getmetatable(f).__call) then
      fail(first and (second and 4 or 3) or 2, name, 'function expected, got ' .. type(f), 1)
   end
   local read, write = index.read[t.dtype], index.write[t.dtype]
   local walks = {}
   for k, userdata in ipairs{self, first, second} do
      local other = object.tensor(userdata)
      if geometry.elements(other) ~= geometry.elements(t) then
         kernels.fault(C.BR_COUNT, self, userdata)
      end
      local n = other.nDimension
      walks[k] = {t = other, n = n, offset = other.storageOffset, at = {}}
      for d = 0, n - 1 do
         walks[k].at[d] = 0
      end
   end
   local function advance(walk)
      local other = walk.t
      for d = walk.n - 1, 0, -1 do
         walk.at[d] = walk.at[d] + 1
         walk.offset = walk.offset + other.stride[d]
         if walk.at[d] < other.size[d] then
            return
         end
         walk.offset = walk.offset - other.size[d] * other.stride[d]
         walk.at[d] = 0
      end
   end
   for _ = 1, geometry.elements(t) do
      local value
      if second then
         value = f(read(t, walks[1].offset), read(walks[2].t, walks[2].offset), read(walks[3].t, walks[3].offset))
      elseif first then
         value = f(read(t, walks[1].offset), read(walks[2].t, walks[2].offset))
      else
         value = f(read(t, walks[1].offset))
      end
      if value ~= nil then
         local number = arguments.number(value)
         if not number then
            error('given function should return a number', 3)
         end
         write(t, walks[1].offset, number)
      end
      for _, walk in ipairs(walks) do
         advance(walk)
      end
   end
   object.keep(first, second)
   return self
end

function methods:apply(f)
   return each('apply', self, f)
end

function methods:map(other, f)
   tensor(2, 'map', other, tensor(1, 'map', self).dtype)
   return each('map', self, f, other)
end

function methods:map2(a, b, f)
   local dtype = tensor(1, 'map2', self).dtype
   tensor(2, 'map2', a, dtype)
   tensor(3, 'map2', b, dtype)
   return each('map2', self, f, a, b)
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
