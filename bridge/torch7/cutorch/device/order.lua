-- br_order for tensors on the device: extremes, sorting, ranks; places are counted from 1, torch's from 0.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'

local C = native.C
local tensor = object.tensor
local op, fresh = aten.op, place.fresh

local invert, negate = op('bitwise_not.out', 'TT'), op('neg.out', 'TT')

local order = {}

-- r = a + 1 and r = a - 1, of longs: -x is ~x + 1.
function order.fromone(r, a)
   invert(a, r)
   negate(r, r)
end

function order.fromzero(r, a)
   negate(a, r)
   invert(r, r)
end

local greatest, least = op('max.dim_max', 'TibTT', 2), op('min.dim_min', 'TibTT', 2)
local sort, topk = op('sort.values_stable', 'T?bibTT', 2), op('topk.values', 'TiibbTT', 2)
local kth, mode = op('kthvalue.values', 'TiibTT', 2), op('mode.values', 'TibTT', 2)

local function sorted(descending)
   return function(values, indices, a, d)
      local count, n = tonumber(tensor(values).size[d]), tonumber(tensor(a).size[d])
      if count < n then
         topk(a, count, d, descending, true, values, indices)
      else
         sort(a, true, d, descending, values, indices)
      end
   end
end

local functions = {
   [C.BR_GREATEST] = function(values, indices, a, d) greatest(a, d, true, values, indices) end,
   [C.BR_LEAST] = function(values, indices, a, d) least(a, d, true, values, indices) end,
   [C.BR_ASCENDING] = sorted(false),
   [C.BR_DESCENDING] = sorted(true),
   [C.BR_KTH] = function(values, indices, a, d, k) kth(a, k, d, true, values, indices) end,
   [C.BR_MODE] = function(values, indices, a, d) mode(a, d, true, values, indices) end,
}

order.loops = {}

function order.loops.br_order(which, values, indices, a, d, k)
   if tensor(indices).dtype ~= elements.beside(elements.Long.id, tensor(a).dtype) then
      return C.BR_TYPE
   end
   local there = fresh(indices) -- results of torch's may not lie anywhere
   functions[which](values, there, a, d, k)
   order.fromone(indices, there)
   return C.BR_OK
end

return order
