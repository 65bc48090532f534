-- A Lua function over the elements of tensors: apply, map and map2.
--
-- Elements are visited in runs, which lie one step apart in every tensor. The function may resize what it is called
-- for, or give it another storage: the walk goes over tensors of its own, and a run's memory is held while it lasts, so
-- that the loop over it is one over plain pointers. Memory that its owner may move cannot be held; there every access
-- looks whether it is still there.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local kernels = require 'torch.kernels'
local native = require 'bridge.native'

local C, cast = native.C, ffi.cast
local tensor = arguments.tensor
local RUN = 2^14 -- elements at most, after which a tensor that was resized is seen as it is now
local MANY = 1000 -- elements from which a function gets loops of its own
local MOST = 256 -- functions that have them at a time

-- What a function may return beside numbers: strings that are some.
local function number(value)
   return arguments.number(value) or arguments.raise('given function should return a number or nil')
end

-- A loop over a run, compiled for itself so that LuaJIT makes traces of its own for it. Where compiled code changes
-- from one function to another it looks for an interruption: so this calls no function but the one it was given, and
-- elements are read as torch.number does it, written out.
local source = [[
local number, element, C, cast, band, tonumber, read, write = ...
local parts, mask, id = element.parts, element.nanmask, element.id
return function(f, n, t, at, step, a, ata, stepa, b, atb, stepb)
   for i = 0, n - 1 do
      local value = f(%s)
      if value ~= nil then
         if type(value) ~= 'number' then
            value = number(value)
         end
         %s
      end
   end
end
]]

-- The text that reads an element, and the one that writes the first tensor's, with TENSOR and PLACE to be filled in.
local function access(element, held)
   if not held then
      return 'read(TENSOR, PLACE)', 'write(TENSOR, PLACE, value)'
   elseif element.name == 'Half' then
      return 'C.br_half_to_double(TENSOR[PLACE])', 'TENSOR[PLACE] = C.br_half_from_double(value)'
   elseif element.name == 'Long' then
      return 'tonumber(TENSOR[PLACE])', 'TENSOR[PLACE] = value'
   elseif element.parts then
      local nan = 'band(cast(parts, TENSOR)[PLACE].high, mask) == mask'
      return '(' .. nan .. ' and C.br_number(TENSOR + PLACE, id) or TENSOR[PLACE])', 'TENSOR[PLACE] = value'
   end
   return 'TENSOR[PLACE]', 'TENSOR[PLACE] = value'
end

local names = {'t', 'a', 'b'}
local places = {
   unit = {t = 'i', a = 'i', b = 'i'},
   strided = {t = 'i * step', a = 'i * stepa', b = 'i * stepb'},
   checked = {t = 'at + i * step', a = 'ata + i * stepa', b = 'atb + i * stepb'},
}

local function compile(dtype, arity, way)
   local read, write = access(elements[dtype], way ~= 'checked')
   local function filled(text, name)
      return (text:gsub('TENSOR', name):gsub('PLACE', places[way][name]))
   end
   local values = {}
   for k = 1, arity do
      values[k] = filled(read, names[k])
   end
   local loop = loadstring(source:format(table.concat(values, ', '), filled(write, 't')))
   return loadstring(string.dump(loop, true))( -- without lines, see torch.element
      number, elements[dtype], C, cast, bit.band, tonumber, index.read[dtype], index.write[dtype])
end

local function none()
   return {unit = {}, strided = {}, checked = {}}
end

local common = none()
local loopsof, count = {}, 0 -- loops by the source of a function, then by its line

-- The loops for a function and as many elements. A loop that calls one function is traced with it; one that has called
-- several is traced badly. Closures of one function have the same.
local function loopsfor(f, elementcount)
   if elementcount < MANY or type(f) ~= 'function' then
      return common
   end
   local info = debug.getinfo(f, 'S')
   local lines = loopsof[info.source]
   if lines and lines[info.linedefined] then
      return lines[info.linedefined]
   elseif count == MOST then
      loopsof, count = {}, 0
   end
   loopsof[info.source] = loopsof[info.source] or {}
   loopsof[info.source][info.linedefined], count = none(), count + 1
   return loopsof[info.source][info.linedefined]
end

local function loop(loops, dtype, arity, way)
   local made, key = loops[way], 4 * dtype + arity
   made[key] = made[key] or compile(dtype, arity, way)
   return made[key]
end

-- Where a walk through a tensor begins: its last dimensions as one run, as far as they have one step.
local function start(t)
   local last = t.nDimension - 1
   local step, length = tonumber(t.stride[last]), tonumber(t.size[last])
   while last > 0 and tonumber(t.stride[last - 1]) == step * length do
      last = last - 1
      length = length * tonumber(t.size[last])
   end
   local at, size, stride
   if last > 0 then
      at, size, stride = {}, {}, {}
   end
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

-- The next n elements of a walk as a pointer to the first, and what keeps their memory alive; nil if that may move.
local function hold(walk, n)
   local reach = (n - 1) * walk.step
   local first = walk.offset + math.min(reach, 0)
   local part = C.br_storage_part(walk.t.storage, first, math.abs(reach) + 1)
   if part == nil then
      return nil
   end
   local holder = object.wrapstorage(part)
   return cast(elements[part.dtype].pointer, part.data) + (walk.offset - first), holder
end

local absent = {} -- in place of a walk

-- Call f with the next n elements of each walk.
local function run(loops, f, n, arity, one, two, three)
   local dtype, unit = one.t.dtype, one.step == 1
   local t, held = hold(one, n)
   local a, helda, b, heldb = true, nil, true, nil
   if arity > 1 then
      unit, a, helda = unit and two.step == 1, hold(two, n)
   end
   if arity > 2 then
      unit, b, heldb = unit and three.step == 1, hold(three, n)
   end
   if t and a and b then
      loop(loops, dtype, arity, unit and 'unit' or 'strided')(f, n, t, 0, one.step, a, 0, two.step, b, 0, three.step)
   else
      loop(loops, dtype, arity, 'checked')(f, n, one.t, one.offset, one.step, two.t, two.offset, two.step, three.t,
         three.offset, three.step)
   end
   object.keep(held, helda, heldb)
end

-- Call f with each element; a number that it returns becomes the element. `given`: how many arguments there were.
local function each(given, f, arity, self, a, b)
   local left = geometry.elements(tensor(1, self))
   if type(f) ~= 'function' then
      arguments.missing(arity + 1, 'function', f, given)
   end
   for _, other in ipairs{a, b} do
      if geometry.elements(object.tensor(other)) ~= left then
         kernels.counts(b and {'tensor', 'src1', 'src2'} or {'tensor', 'src'}, self, a, b)
      end
   end
   local t = geometry.alias(self) -- tensors of our own over the same elements
   a = a and geometry.alias(a)
   b = b and geometry.alias(b)
   if left == 0 then
      return self
   end
   local one = start(object.tensor(t))
   local two, three = a and start(object.tensor(a)) or absent, b and start(object.tensor(b)) or absent
   local loops = loopsfor(f, left)
   while left > 0 do
      local n = math.min(one.left, two.left or left, three.left or left, RUN)
      run(loops, f, n, arity, one, two, three)
      left = left - n
      if left > 0 then
         advance(one, n)
         if a then
            advance(two, n)
         end
         if b then
            advance(three, n)
         end
      end
   end
   object.keep(t, a, b)
   return self
end

local methods = {}

function methods.apply(...)
   local self, f = ...
   return (each(select('#', ...), f, 1, self))
end

function methods.map(...)
   local self, other, f = ...
   tensor(2, other, tensor(1, self).dtype)
   return (each(select('#', ...), f, 2, self, other))
end

function methods.map2(...)
   local self, a, b, f = ...
   local dtype = tensor(1, self).dtype
   tensor(2, a, dtype)
   tensor(3, b, dtype)
   return (each(select('#', ...), f, 3, self, a, b))
end

arguments.publish(methods)

return function()
   for id = 0, elements.count - 1 do
      for name, method in pairs(methods) do
         object.metatables[id][name] = method
      end
   end
end
