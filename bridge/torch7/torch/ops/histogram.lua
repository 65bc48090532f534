-- Histograms: histc of all elements, bhistc of each row.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local bad = require('torch.arguments').bad
local numbers = require 'torch.number'

local C = native.C
local tensor, scratch = object.tensor, object.scratch

-- The limits of the bins: those of the elements unless they are given, and never the same.
local function limits(t, low, high)
   if low == high then
      low, high = kernels.reduce(C.BR_MIN, t), kernels.reduce(C.BR_MAX, t)
   end
   if low == high then
      low, high = low - 1, high + 1
   end
   return low, high
end

-- Count the elements of one row, in contiguous memory from `first` on.
local function count(number, data, first, n, bins, low, high, counts)
   local span = high - low
   for i = first, first + n - 1 do
      local x = number(data, i)
      if x >= low and x <= high then
         local bin = math.min(math.floor((x - low) / span * bins), bins - 1)
         if bin >= 0 then -- nan, when the span is infinite
            counts[bin] = counts[bin] + 1
         end
      end
   end
end

-- Fill r, of `rows` rows of bins, from as many rows of the source.
local function histogram(r, source, rows, bins, low, high)
   if bins < 1 then
      bad(3, 'number of bins must be at least 1, got %d', bins)
   end
   low, high = limits(source, low, high)
   local from = source:contiguous()
   local result = geometry.contiguous(tensor(r)) and tensor(r).storage ~= tensor(source).storage and r
      or object.newtensor(tensor(r).dtype)
   scratch[0], scratch[1] = rows or bins, bins
   geometry.resize(tensor(result), rows and 2 or 1)
   kernels.fill(result, 0)
   local n = geometry.elements(tensor(from)) / (rows or 1)
   local data, counts, number = from:data(), result:data(), numbers[tensor(from).dtype]
   for i = 0, (rows or 1) - 1 do
      count(number, data, i * n, n, bins, low, high, counts + i * bins)
   end
   object.keep(from)
   if result ~= r then
      geometry.resizeas(tensor(r), tensor(result))
      kernels.copy(r, result)
   end
   return r
end

local function histc(r, source, bins, low, high)
   if tensor(source).nDimension == 0 and low == high then
      bad(1, 'tensor must have one dimension')
   end
   return histogram(r, source, nil, bins, low, high)
end

local function bhistc(r, source, bins, low, high)
   local t = tensor(source)
   if t.nDimension > 2 then
      bad(2, 'invalid dimension %d, the input must be a 2d tensor', t.nDimension)
   elseif t.nDimension < 2 then
      bad(2, 'invalid dimension %d', 2)
   end
   return histogram(r, source, tonumber(t.size[0]), bins, low, high)
end

local forms = '[*T] T [long=100] [double=0] [double=0]'
return {
   {name = 'histc', types = types.FLOAT, host = true, forms = {forms, histc}},
   {name = 'bhistc', types = types.FLOAT, host = true, forms = {forms, bhistc}},
}
