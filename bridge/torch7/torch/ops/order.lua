-- Extremes, sorting and ranks, with the places they came from.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local ffi = require 'ffi'

local C, loops = native.C, kernels.loops
local tensor, scratch = object.tensor, object.scratch
local NUMERIC, ALL = types.NUMERIC, types.ALL

local function fail(argument, name, message)
   error(string.format("bad argument #%d to '%s' (%s)", argument, name, message), 0)
end

local function dimension(name, t, d, argument)
   d = d < 0 and math.ceil(d) or math.floor(d)
   if not (d >= 1 and d <= t.nDimension) then
      fail(argument or 2, name, string.format('dimension %d out of range', d))
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

local function nonempty(name, t)
   if t.nDimension == 0 then
      fail(1, name, 'tensor must have one dimension')
   end
end

local function whole(name, op)
   return function(t)
      nonempty(name, tensor(t))
      return kernels.reduce(op, t)
   end
end

local function extreme(name, op)
   return function(values, indices, t, d)
      return order(op, values, indices, t, dimension(name, tensor(t), d), 1)
   end
end

-- The last dimension, unless one is named.
local function chosen(name, t, d, argument)
   nonempty(name, t)
   return d and dimension(name, t, d, argument) or t.nDimension - 1
end

local function sort(values, indices, t, d, descending)
   local from = tensor(t)
   if from.nDimension == 0 then
      geometry.resizeas(tensor(values), from)
      geometry.resize(tensor(indices), 0)
      return values, indices
   end
   d = chosen('sort', from, d)
   return order(descending and C.BR_DESCENDING or C.BR_ASCENDING, values, indices, t, d, tonumber(from.size[d]))
end

local function topk(values, indices, t, k, d, largest)
   local from = tensor(t)
   d = chosen('topk', from, d, 3)
   if not (k >= 1 and k <= from.size[d]) then
      fail(2, 'topk', 'k not in range for dimension')
   end
   return order(largest and C.BR_DESCENDING or C.BR_ASCENDING, values, indices, t, d, math.floor(k))
end

local function kthvalue(values, indices, t, k, d)
   local from = tensor(t)
   d = chosen('kthvalue', from, d, 3)
   if not (k >= 1 and k <= from.size[d]) then
      fail(2, 'kthvalue', 'selected index out of range')
   end
   return order(C.BR_KTH, values, indices, t, d, 1, math.floor(k))
end

local function median(values, indices, t, d)
   local from = tensor(t)
   d = chosen('median', from, d)
   return order(C.BR_KTH, values, indices, t, d, 1, math.floor((tonumber(from.size[d]) + 1) / 2))
end

local function mode(values, indices, t, d)
   return order(C.BR_MODE, values, indices, t, chosen('mode', tensor(t), d), 1)
end

local function row(name, of, arguments, f)
   return {name = name, types = of, forms = {'*T *Long T ' .. arguments, f}}
end

local function extremeRow(name, reduction, op)
   local result = row(name, ALL, 'index', extreme(name, op))
   table.insert(result.forms, 1, whole(name, reduction))
   table.insert(result.forms, 1, 'T')
   return result
end

return {
   extremeRow('max', C.BR_MAX, C.BR_GREATEST),
   extremeRow('min', C.BR_MIN, C.BR_LEAST),
   row('sort', NUMERIC, '[index] [boolean]', sort),
   row('topk', NUMERIC, '[index] [index] [boolean] [boolean]', function(v, i, t, k, d, largest)
      return topk(v, i, t, k or 1, d, largest)
   end),
   row('kthvalue', NUMERIC, 'index [index]', kthvalue),
   row('median', NUMERIC, '[index]', median),
   row('mode', NUMERIC, '[index]', mode),
}
