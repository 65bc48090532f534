-- Many numbers into one: of a whole tensor, or along a dimension, which stays with size 1.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local ffi = require 'ffi'

local C = native.C
local tensor, scratch = object.tensor, object.scratch
local NUMERIC, FLOAT = types.NUMERIC, types.FLOAT

-- The dimension d of t as an offset; `argument` and `message` say what is wrong with one that is none.
local function dimension(t, d, argument, message)
   if d < 1 or d > t.nDimension then
      arguments.beyond(argument, d, 1, t.nDimension, string.format(message, d))
   end
   return d - 1
end
local OUT, INVALID = 'dimension %d out of range', 'invalid dimension %d'

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
local function along(op, message)
   return function(r, t, d)
      local to, from = tensor(r), tensor(t)
      d = dimension(from, d, 2, message)
      if r == t then
         error('the result of a reduction cannot be its source', 0)
      end
      keep(to, from, d)
      kernels.reducedim(op, r, t, d)
      return r
   end
end

local function nonempty(t)
   if t.nDimension == 0 then
      arguments.bad(1, 'empty Tensor')
   end
end

local function mean(t)
   nonempty(tensor(t))
   return kernels.reduce(C.BR_SUM, t) / geometry.elements(tensor(t))
end

local function variance(t, biased)
   nonempty(tensor(t))
   local n = geometry.elements(tensor(t))
   local squares = kernels.reduce(C.BR_SQUARES, t, kernels.reduce(C.BR_SUM, t) / n)
   return squares / (biased and n or n - 1)
end

local function std(t, biased)
   return math.sqrt(variance(t, biased))
end

local function alongbiased(op)
   return function(r, t, d, biased)
      local to, from = tensor(r), tensor(t)
      d = dimension(from, d, 3, INVALID)
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
   d = dimension(from, d, 3, INVALID)
   keep(to, from, d)
   kernels.reducedim(C.BR_NORM, r, t, d, p)
   return r
end

local function dist(a, b, p)
   local sum = kernels.distance(a, b, p)
   return p == 2 and math.sqrt(sum) or p == 1 and sum or sum ^ (1 / p)
end

local function scan(op)
   return function(r, t, d)
      local to, from = tensor(r), tensor(t)
      d = dimension(from, d, 2, OUT)
      geometry.resizeas(to, from)
      kernels.scan(op, r, t, d)
      return r
   end
end

local function truth(op)
   return function(t)
      nonempty(tensor(t))
      return kernels.reduce(op, t) ~= 0
   end
end

local function dot(a, b)
   local sum = kernels.dot(a, b)
   return sum
end

local function count(t)
   return geometry.elements(tensor(t))
end

local function row(name, of, op, reduced, message)
   return {name = name, types = of, forms = {'T', reduced or whole(op), '[*T] T index', along(op, message or OUT)}}
end

local function spreadRow(name, reduced, op)
   return {name = name, types = FLOAT, forms = {'T [boolean]', reduced, '[*T] T index [boolean]', alongbiased(op)}}
end

local function scanRow(name, op)
   return {name = name, types = NUMERIC, forms = {'[*T] T [index=1]', scan(op)}}
end

return {
   row('sum', NUMERIC, C.BR_SUM),
   row('prod', NUMERIC, C.BR_PROD),
   row('mean', {'Half', 'Float', 'Double'}, C.BR_MEAN, mean, INVALID),
   spreadRow('var', variance, C.BR_VAR),
   spreadRow('std', std, C.BR_STD),
   {name = 'norm', types = FLOAT, forms = {'T [real=2]', norm, '[*T] T real index', normalong}},
   {name = 'dist', types = FLOAT, forms = {'T T [real=2]', dist}},
   {name = 'dot', types = NUMERIC, forms = {'T T', dot}},
   {name = 'numel', types = NUMERIC, forms = {'T', count}},
   scanRow('cumsum', C.BR_CUMSUM),
   scanRow('cumprod', C.BR_CUMPROD),
   {name = 'all', types = types.BYTE, forms = {'T', truth(C.BR_ALL)}},
   {name = 'any', types = types.BYTE, forms = {'T', truth(C.BR_ANY)}},
}
