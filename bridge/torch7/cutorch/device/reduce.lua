-- The loops that make one number of many, for tensors on the device: of a whole tensor, or along a dimension.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'

local C = native.C
local tensor = object.tensor
local op, fresh, single, item = aten.op, place.fresh, place.single, place.item
local FLOAT, LONG, HALF = elements.Float.id, elements.Long.id, elements.Half.id
local DEVICE = elements.DEVICE
local ALL = aten.list{} -- no dimension named: over all

-- The type that sums are made in, as an element type of the CPU: the same number as torch's.
local function wide(dtype)
   local base = dtype - DEVICE
   return elements[base].integer and LONG or base == HALF and FLOAT or base
end

local sum = op('sum.IntList_out', 'T?Ib?iT')
local largest, smallest = op('amax.out', 'TIbT'), op('amin.out', 'TIbT')
local product = op('prod.int_out', 'Tib?iT')

local function total(a)
   local dtype = wide(tensor(a).dtype)
   local r = single(a, dtype + DEVICE)
   sum(a, ALL, true, dtype, r)
   return item(r)
end

local function extreme(f)
   return function(a)
      local r = single(a, tensor(a).dtype)
      f(a, ALL, true, r)
      return item(r)
   end
end
local greatest, least = extreme(largest), extreme(smallest)

-- |a|^p of every element.
local function powers(a, p)
   local r = fresh(a)
   if p == 0 then
      kernels.compare(C.BR_NE, r, a, nil, 0)
   elseif p == 2 then
      place.multiply(r, a, a)
   else
      kernels.map(C.BR_ABS, r, a)
      if p ~= 1 then
         kernels.map(C.BR_POWS, r, r, p)
      end
   end
   return r
end

local whole = {
   [C.BR_SUM] = total,
   [C.BR_PROD] = function(a)
      local flat = a:contiguous():view(-1)
      local dtype = wide(tensor(a).dtype)
      local r = place.vector(dtype + DEVICE, 1)
      product(flat, 0, true, dtype, r)
      return item(r)
   end,
   [C.BR_MAX] = greatest,
   [C.BR_MIN] = least,
   [C.BR_NORM] = function(a, p) return total(powers(a, p)) end,
   [C.BR_SQUARES] = function(a, v)
      local r = fresh(a)
      kernels.map(C.BR_ADDS, r, a, -v)
      return total(powers(r, 2))
   end,
   [C.BR_ALL] = function(a) return least(a) ~= 0 and 1 or 0 end,
   [C.BR_ANY] = function(a) return greatest(a) ~= 0 and 1 or 0 end,
}

local loops = {}

function loops.br_reduce(which, a, v, result)
   if tensor(a).nDimension == 0 then
      return place.onhost('br_reduce', 2, which, a, v, result)
   end
   result[0] = whole[which](a, v)
   return C.BR_OK
end

function loops.br_dot(a, b, result)
   if geometry.elements(tensor(a)) ~= geometry.elements(tensor(b)) then
      return C.BR_COUNT
   end
   local r = fresh(a)
   place.multiply(r, a, place.shaped(b, a))
   result[0] = total(r)
   return C.BR_OK
end

function loops.br_distance(a, b, p, result)
   if geometry.elements(tensor(a)) ~= geometry.elements(tensor(b)) then
      return C.BR_COUNT
   end
   local r = fresh(a)
   kernels.pair(C.BR_ADD, r, a, b, -1)
   result[0] = total(powers(r, p))
   return C.BR_OK
end

-- A list of one dimension, made once.
local lists = setmetatable({}, {__index = function(known, d)
   known[d] = aten.list{d}
   return known[d]
end})

local mean, variance, deviation = op('mean.out', 'T?IbnT'), op('var.out', 'T?IbbT'), op('std.out', 'T?IbbT')

local along = {
   [C.BR_SUM] = function(r, a, d) sum(a, lists[d], true, tensor(r).dtype - DEVICE, r) end,
   [C.BR_PROD] = function(r, a, d) product(a, d, true, tensor(r).dtype - DEVICE, r) end,
   [C.BR_MEAN] = function(r, a, d) mean(a, lists[d], true, r) end,
   [C.BR_VAR] = function(r, a, d, biased) variance(a, lists[d], biased == 0, true, r) end,
   [C.BR_STD] = function(r, a, d, biased) deviation(a, lists[d], biased == 0, true, r) end,
   [C.BR_NORM] = function(r, a, d, p)
      sum(powers(a, p), lists[d], true, tensor(r).dtype - DEVICE, r)
      if p == 2 then
         kernels.map(C.BR_SQRT, r, r)
      elseif p ~= 0 and p ~= 1 then
         kernels.map(C.BR_POWS, r, r, 1 / p)
      end
   end,
}

function loops.br_reduce_dim(which, r, a, d, v)
   along[which](r, a, d, v)
   return C.BR_OK
end

local running = {
   [C.BR_CUMSUM] = op('cumsum.out', 'Ti?iT'),
   [C.BR_CUMPROD] = op('cumprod.out', 'Ti?iT'),
}

function loops.br_scan(which, r, a, d)
   running[which](a, d, tensor(r).dtype - DEVICE, r)
   return C.BR_OK
end

return loops
