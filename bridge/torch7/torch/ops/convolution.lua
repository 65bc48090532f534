-- Convolutions and cross-correlations of planes and volumes: conv2, xcorr2, conv3, xcorr3.
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local bad = require('torch.arguments').bad

local loops = kernels.loops
local tensor, scratch = object.tensor, object.scratch

-- A contiguous view: these sizes, then the tensor's own last `rank`, as three.
local function view(userdata, rank, ...)
   local t, sizes = tensor(userdata), {...}
   for d = 3, 2, -1 do
      sizes[#sizes + 1] = rank >= d and tonumber(t.size[t.nDimension - d]) or 1
   end
   sizes[#sizes + 1] = tonumber(t.size[t.nDimension - 1])
   return userdata:contiguous():view(unpack(sizes))
end

-- Sizes of the result along the last `rank` dimensions, in scratch after `planes` of its own.
local function shape(name, from, by, rank, full, front)
   for i = 1, rank do
      local a = tonumber(from.size[from.nDimension - i])
      local k = tonumber(by.size[by.nDimension - i])
      if not full and a < k then
         bad(2, '%s : Input image is smaller than kernel', name)
      end
      scratch[front + rank - i] = full and a + k - 1 or a - k + 1
   end
end

-- How planes go together -> the planes of the result, with sizes for a and k in front of those of one plane.
local function plain()
   return nil, {1}, {1}
end

local function each(from, by)
   if from.size[0] ~= by.size[0] then
      bad(2, 'invalid number of input/kernel planes')
   end
   local n = tonumber(from.size[0])
   return n, {n}, {n}
end

local function summed(from, by)
   if from.size[0] ~= by.size[1] then
      bad(2, 'invalid number of input planes')
   end
   return tonumber(by.size[0]), {tonumber(from.size[0])}, {tonumber(by.size[0]), tonumber(by.size[1])}
end

-- Where the result goes: into r's memory from its first element on, one element after the other, whatever its strides
-- are; into memory of its own if r's has no room for that, or is still to be read.
local function place(r, a, k)
   local t = tensor(r)
   local n = geometry.elements(t)
   local to = object.newtensor(t.dtype)
   if t.storage == tensor(a).storage or t.storage == tensor(k).storage or t.storageOffset + n > t.storage.size then
      geometry.resizeas(tensor(to), t)
   else
      scratch[0], scratch[geometry.STRIDES] = n, 1
      geometry.set(tensor(to), t.storage, t.storageOffset, 1)
      geometry.resizeas(tensor(to), t)
   end
   return to
end

local function form(rank, flip, together, routine)
   local name = string.format('conv%dD%s', rank, routine)
   return function(r, a, k, mode)
      local full, from, by = mode == 'F', tensor(a), tensor(k)
      local planes, ahead, kahead = together(from, by)
      local front = planes and 1 or 0
      local image, kernel = view(a, rank, unpack(ahead)), view(k, rank, unpack(kahead))
      shape(name, from, by, rank, full, front)
      if planes then
         scratch[0] = planes
      end
      geometry.resize(tensor(r), front + rank)
      local result = place(r, a, k)
      local code = loops.convolve(view(result, rank, planes or 1), image, kernel, full and 1 or 0,
         full ~= flip and 1 or 0)
      if code ~= 0 then
         kernels.fault(code, result, a, k)
      end
      if tensor(result).storage ~= tensor(r).storage then
         kernels.copy(r, result)
      end
      return r
   end
end

local function row(name, rank, flip)
   local words = '[*T] T~%dD T~%dD [V|F=V]'
   return {name = name, types = types.NUMERIC, forms = {
      string.format(words, rank, rank), form(rank, flip, plain, 'mul'),
      string.format(words, rank + 1, rank + 1), form(rank, flip, each, 'cmul'),
      string.format(words, rank + 1, rank + 2), form(rank, flip, summed, 'mv'),
   }}
end

return {
   row('conv2', 2, true),
   row('xcorr2', 2, false),
   row('conv3', 3, true),
   row('xcorr3', 3, false),
}
