-- A Lua function over the elements of tensors: apply, map and map2.
--
-- Elements are visited in runs, which lie one step apart in every tensor. The loops over a run are compiled once per
-- element type, so that LuaJIT makes a trace of its own for each. Every access looks whether the memory is still there:
-- the function may resize what it is called for.
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local kernels = require 'torch.kernels'
local native = require 'bridge.native'

local C = native.C
local tensor, fail = arguments.tensor, arguments.fail

local function loops(read, write, number)
   local function assign(t, at, value)
      if type(value) ~= 'number' then
         value = number(value)
      end
      write(t, at, value)
   end

   local function apply(f, n, t, at, step)
      for _ = 1, n do
         local value = f(read(t, at))
         if value ~= nil then
            assign(t, at, value)
         end
         at = at + step
      end
   end

   local function map(f, n, t, at, step, a, ata, stepa)
      for _ = 1, n do
         local value = f(read(t, at), read(a, ata))
         if value ~= nil then
            assign(t, at, value)
         end
         at, ata = at + step, ata + stepa
      end
   end

   local function map2(f, n, t, at, step, a, ata, stepa, b, atb, stepb)
      for _ = 1, n do
         local value = f(read(t, at), read(a, ata), read(b, atb))
         if value ~= nil then
            assign(t, at, value)
         end
         at, ata, atb = at + step, ata + stepa, atb + stepb
      end
   end

   return {apply, map, map2}
end
loops = string.dump(loops, true) -- without lines, see torch.element

-- What a function may return beside numbers: strings that are some.
local function number(value)
   return arguments.number(value) or error('given function should return a number', 5)
end

local compiled = setmetatable({}, {__index = function(made, dtype)
   made[dtype] = loadstring(loops)(index.read[dtype], index.write[dtype], number)
   return made[dtype]
end})

-- Where a walk through a tensor begins: its last dimensions as one run, as far as they have one step.
local function start(t)
   local last = t.nDimension - 1
   local step, length = tonumber(t.stride[last]), tonumber(t.size[last])
   while last > 0 and tonumber(t.stride[last - 1]) == step * length do
      last = last - 1
      length = length * tonumber(t.size[last])
   end
   local at, size, stride = {}, {}, {}
   for d = 0, last - 1 do
      at[d], size[d], stride[d] = 0, tonumber(t.size[d]), tonumber(t.stride[d])
   end
   return {
      t = t, offset = tonumber(t.storageOffset), step = step, length = length, left = length,
      outer = last, at = at, size = size, stride = stride,
   }
end

-- Go on by n elements of the run, or to where the next one begins.
local function advance(walk, n)
   walk.left, walk.offset = walk.left - n, walk.offset + n * walk.step
   if walk.left > 0 then
      return
   end
   walk.left, walk.offset = walk.length, walk.offset - walk.length * walk.step
   for d = walk.outer - 1, 0, -1 do
      walk.at[d] = walk.at[d] + 1
      walk.offset = walk.offset + walk.stride[d]
      if walk.at[d] < walk.size[d] then
         return
      end
      walk.offset = walk.offset - walk.size[d] * walk.stride[d]
      walk.at[d] = 0
   end
end

-- Call f with each element; a number that it returns becomes the element.
local function each(name, self, f, ...)
   local t, arity = tensor(1, name, self), 1 + select('#', ...)
   if type(f) ~= 'function' and not (getmetatable(f) and getmetatable(f).__call) then
      fail(arity + 1, name, 'function expected, got ' .. type(f), 1)
   end
   local left, walks = geometry.elements(t), {}
   for k, userdata in ipairs{self, ...} do
      local other = object.tensor(userdata)
      if geometry.elements(other) ~= left then
         kernels.fault(C.BR_COUNT, self, userdata)
      end
      walks[k] = left > 0 and start(other) or nil
   end
   local loop = compiled[t.dtype][arity]
   local one, two, three = walks[1], walks[2] or {}, walks[3] or {}
   while left > 0 do
      local n = math.min(one.left, two.left or left, three.left or left)
      loop(f, n, t, one.offset, one.step, two.t, two.offset, two.step, three.t, three.offset, three.step)
      for _, walk in ipairs(walks) do
         advance(walk, n)
      end
      left = left - n
   end
   object.keep(...)
   return self
end

local methods = {}

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

return function()
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
end
