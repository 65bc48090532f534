-- Copies: between tensors of any type and shape, clones, contiguous ones, conversions; element-wise Lua callbacks.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local kernels = require 'torch.kernels'
local index = require 'torch.index'

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

-- Call f with each element; a number that it returns becomes the element. `count`: how many arguments there were.
local function each(count, self, f, first, second)
   local t = tensor(1, self)
   if type(f) ~= 'function' then
      arguments.missing(first and (second and 4 or 3) or 2, 'function', f, count)
   end
   local read, write = index.read[t.dtype], index.write[t.dtype]
   local walks = {}
   for k, userdata in ipairs{self, first, second} do
      local other = object.tensor(userdata)
      if geometry.elements(other) ~= geometry.elements(t) then
         kernels.counts(second and {'tensor', 'src1', 'src2'} or {'tensor', 'src'}, self, first, second)
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
            raise('given function should return a number or nil')
         end
         write(t, walks[1].offset, number)
      end
      for _, walk in ipairs(walks) do
         advance(walk)
      end
   end
   object.keep(first, second)
end

function methods.apply(...)
   local self, f = ...
   each(select('#', ...), self, f)
   return self
end

function methods.map(...)
   local self, other, f = ...
   tensor(2, other, tensor(1, self).dtype)
   each(select('#', ...), self, f, other)
   return self
end

function methods.map2(...)
   local self, a, b, f = ...
   local dtype = tensor(1, self).dtype
   tensor(2, a, dtype)
   tensor(3, b, dtype)
   each(select('#', ...), self, f, a, b)
   return self
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
