-- Many numbers into one: of a whole tensor, or along a dimension, which stays with size 1.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local ffi = require 'ffi'

local C = native.C
local tensor, scratch = object.tensor, object.scratch
local NUMERIC, FLOAT = types.NUMERIC, types.FLOAT

-- Is d a dimension of t? As an offset.
local function dimension(name, t, d, argument)
   d = d < 0 and math.ceil(d) or math.floor(d)
   if not (d >= 1 and d <= t.nDimension) then
      error(string.format("bad argument #%d to '%s' (dimension %d out of range)", argument or 2, name, d), 0)
   end
   return d - 1
end

-- Give r the sizes of t, with 1 (or another number) in one dimension.
local function keep(r, t, d, size)
   ffi.copy(scratch, t.size, t.nDimension * 8)
   scratch[d] = size or 1
   geometry.resize(r, t.nDimension)
end

-- The whole tensor.
local function whole(op)
   return function(t)
      return kernels.reduce(op, t)
   end
end

-- Along a dimension.
local function along(name, op)
   return function(r, t, d)
      local to, from = tensor(r), tensor(t)
      d = dimension(name, from, d)
      if r == t then
         error('the result of ' .. name .. ' cannot be its source', 0)
      end
      keep(to, from, d)
      kernels.reducedim(op, r, t, d)
      return r
   end
end

local function nonempty(name, t)
   if t.nDimension == 0 then
      error(string.format("bad argument #1 to '%s' (empty Tensor)", name), 0)
   end
end

local function mean(t)
   nonempty('mean', tensor(t))
   return kernels.reduce(C.BR_SUM, t) / geometry.elements(tensor(t))
end

local function variance(t, biased)
   nonempty('var', tensor(t))
   local n = geometry.elements(tensor(t))
   local squares = kernels.reduce(C.BR_SQUARES, t, kernels.reduce(C.BR_SUM, t) / n)
   return squares / (biased and n or n - 1)
end

local function std(t, biased)
   return math.sqrt(variance(t, biased))
end

local function alongbiased(name, op)
   return function(r, t, d, biased)
      local to, from = tensor(r), tensor(t)
      d = dimension(name, from, d)
      keep(to, from, d)
      kernels.reducedim(op, r, t, d, biased and 1 or 0)
      return r
   end
end

local function norm(t, p)
   local sum = kernels.reduce(C.BR_NORM, t, p)
   return p == 2 and math.sqrt(sum) or (p == 1 or p == 0) and sum or sum ^ (1 / p)
end

local function normalong(r, t, p, d)
   local to, from = tensor(r), tensor(t)
   d = dimension('norm', from, d, 3)
   keep(to, from, d)
   kernels.reducedim(C.BR_NORM, r, t, d, p)
   return r
end

local function dist(a, b, p)
   local sum = kernels.distance(a, b, p)
   return p == 2 and math.sqrt(sum) or p == 1 and sum or sum ^ (1 / p)
end

local function scan(name, op)
   return function(r, t, d)
      local to, from = tensor(r), tensor(t)
      d = dimension(name, from, d or 1)
      geometry.resizeas(to, from)
      kernels.scan(op, r, t, d)
      return r
   end
end

local function truth(op)
   return function(t)
      nonempty('all', tensor(t))
      return kernels.reduce(op, t) ~= 0
   end
end

local function scanRow(name, op)
   return {name = name, types = NUMERIC, forms = {'*T T [index]', scan(name, op)}}
end

return {
   {name = 'sum', types = NUMERIC, forms = {'T', whole(C.BR_SUM), '*T T index', along('sum', C.BR_SUM)}},
   {name = 'prod', types = NUMERIC, forms = {'T', whole(C.BR_PROD), '*T T index', along('prod', C.BR_PROD)}},
   {name = 'mean', types = {'Half', 'Float', 'Double'}, forms = {'T', mean, '*T T index', along('mean', C.BR_MEAN)}},
   {name = 'var', types = FLOAT,
      forms = {'T [boolean]', variance, '*T T index [boolean]', alongbiased('var', C.BR_VAR)}},
   {name = 'std', types = FLOAT, forms = {'T [boolean]', std, '*T T index [boolean]', alongbiased('std', C.BR_STD)}},
   {name = 'norm', types = FLOAT, forms = {'T [number=2]', norm, '*T T number index', normalong}},
   {name = 'dist', types = FLOAT, forms = {'T T [number=2]', dist}},
   {name = 'dot', types = NUMERIC, forms = {'T T', function(a, b) return kernels.dot(a, b) end}},
   scanRow('cumsum', C.BR_CUMSUM),
   scanRow('cumprod', C.BR_CUMPROD),
   {name = 'all', types = types.BYTE, forms = {'T', truth(C.BR_ALL)}},
   {name = 'any', types = types.BYTE, forms = {'T', truth(C.BR_ANY)}},
}
