-- Extremes, sorting and ranks, with the places they came from.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local ffi = require 'ffi'

local C, loops = native.C, kernels.loops
local tensor, scratch = object.tensor, object.scratch
local bad = arguments.bad
local NUMERIC, ALL = types.NUMERIC, types.ALL

-- The dimension d of t (the last one, unless it is named) as an offset; how a wrong one is complained of.
local function dimension(t, d, argument, message)
   d = d or t.nDimension
   if d < 1 or d > t.nDimension then
      arguments.beyond(argument, d, 1, t.nDimension, string.format(message, d))
   end
   return d - 1
end

local function shape(r, t, d, count)
   ffi.copy(scratch, t.size, t.nDimension * 8)
   scratch[d] = count
   geometry.resize(r, t.nDimension)
end

-- Fill values and indices with `count` elements from every line of t along d.
local function order(op, values, indices, t, d, count, k)
   if values == t then
      t = t:clone()
   end
   shape(tensor(values), tensor(t), d, count)
   shape(tensor(indices), tensor(t), d, count)
   local code = loops.order(op, values, indices, t, d, k or 0)
   if code ~= 0 then
      kernels.fault(code, values, t)
   end
   return values, indices
end

local function whole(op)
   return function(t)
      if tensor(t).nDimension == 0 then
         bad(1, 'tensor must have one dimension')
      end
      return kernels.reduce(op, t)
   end
end

local function extreme(op)
   return function(values, indices, t, d)
      return order(op, values, indices, t, dimension(tensor(t), d, 2, 'dimension %d out of range'), 1)
   end
end

local function sort(values, indices, t, d, descending)
   local from = tensor(t)
   d = dimension(from, d, 2, 'invalid dimension %d')
   return order(descending and C.BR_DESCENDING or C.BR_ASCENDING, values, indices, t, d, tonumber(from.size[d]))
end

local function topk(values, indices, t, k, d, largest)
   local from = tensor(t)
   d = dimension(from, d, 3, 'dim not in range')
   if k < 1 or k > from.size[d] then
      bad(2, 'k not in range for dimension')
   end
   return order(largest and C.BR_DESCENDING or C.BR_ASCENDING, values, indices, t, d, k)
end

local OUT = 'dimension out of range'

local function kthvalue(values, indices, t, k, d)
   local from = tensor(t)
   d = dimension(from, d, 3, OUT)
   if k < 1 or k > from.size[d] then
      arguments.beyond(2, k, 1, from.size[d], 'selected index out of range')
   end
   return order(C.BR_KTH, values, indices, t, d, 1, k)
end

local function median(values, indices, t, d)
   local from = tensor(t)
   d = dimension(from, d, 3, OUT)
   return order(C.BR_KTH, values, indices, t, d, 1, math.floor((tonumber(from.size[d]) + 1) / 2))
end

local function mode(values, indices, t, d)
   return order(C.BR_MODE, values, indices, t, dimension(tensor(t), d, 3, OUT), 1)
end

local function row(name, words, f)
   return {name = name, types = NUMERIC, forms = {'[*T] [*Long] T ' .. words, f}}
end

local function extremeRow(name, reduction, op)
   return {name = name, types = ALL, forms = {'T', whole(reduction), '[*T] [*Long] T index', extreme(op)}}
end

return {
   extremeRow('max', C.BR_MAX, C.BR_GREATEST),
   extremeRow('min', C.BR_MIN, C.BR_LEAST),
   row('sort', '[index] [boolean]', sort),
   row('topk', '[long=1] [index] [boolean] [boolean]', topk),
   row('kthvalue', 'long [index]', kthvalue),
   row('median', '[index]', median),
   row('mode', '[index]', mode),
}
