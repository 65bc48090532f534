-- Random numbers: single ones, tensors filled in place or made, permutations, categories.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local generator = require 'torch.generator'
local types = require 'torch.ops.types'
local alias = require 'torch.multinomial'
local ffi = require 'ffi'

local C, loops = native.C, kernels.loops
local pointer = object.tensor
local bad, raise = arguments.bad, arguments.raise
local FLOAT = elements.Float.id
local cell = ffi.new('float[1]')

-- The state of the generator that was given, or of the one that is meant otherwise.
local function state(given)
   return given and generator.state(given) or generator.default
end

local function check(rc, tensor)
   if rc ~= 0 then
      raise('the memory behind this tensor was released or shrunk by its owner')
   end
   return tensor
end

local function deviation(_, b)
   if not (b > 0) then
      bad(2, 'standard deviation must be strictly positive')
   end
end

local function probability(p)
   if not (p >= 0 and p <= 1) then
      bad(1, 'must be >= 0 and <= 1')
   end
end

local function chance(p)
   if not (p > 0 and p < 1) then
      bad(1, 'must be > 0 and < 1')
   end
end

-- A parameter of a tensor's fill, as the tensor's type holds it.
local function parameter(x, dtype)
   if dtype % elements.DEVICE == FLOAT then
      cell[0] = x
      return cell[0]
   end
   return x
end

-- One number, and a tensor filled with many; `exact`: the parameters keep their digits in tensors of floats, too.
local function scalar(id, valid)
   return function(given, a, b)
      if valid then
         valid(a, b)
      end
      return C.br_random_draw(state(given), id, a, b or 0)
   end
end

local function fill(id, valid, exact)
   return function(r, given, a, b)
      local t = pointer(r)
      if not exact then
         a, b = parameter(a, t.dtype), b and parameter(b, t.dtype)
      end
      if valid and t.nDimension > 0 then
         valid(a, b)
      end
      return check(loops.random_fill(state(given), r, id, a, b or 0), r)
   end
end

-- A distribution of two parameters with defaults.
local function row(name, id, a, b, valid)
   local words = '[Generator] [%s=%s] [%s=%s]'
   return {name = name, types = types.FLOAT, forms = {words:format('double', a, 'double', b), scalar(id, valid),
      '*T! ' .. words:format('real', a, 'real', b), fill(id, valid)}}
end

local function bernoulli(r, given, p)
   local weights = p:double():contiguous()
   if geometry.elements(pointer(weights)) ~= geometry.elements(pointer(r)) then
      kernels.counts({'self', 'p'}, r, p)
   end
   local rc = loops.random_bernoulli_each(state(given), r, weights)
   return check(rc, r)
end

-- The least and the greatest number that are drawn.
local function between(a, b)
   if b < a then
      bad(2, 'upper bound must be larger than lower bound')
   end
   return a, b
end

local function upto(b)
   if b < 1 then
      bad(1, 'upper bound must be strictly positive')
   end
   return 1, b
end

-- Without bounds, the largest integer that each type is given (a real type: the last that it counts exactly).
local largest = {Byte = 2^8 - 1, Char = 2^7 - 1, Short = 2^15 - 1, Int = 2^31 - 1, Long = 2^62, Float = 2^24,
   Double = 2^53}

local function drawn(given, a, b)
   return tonumber(C.br_random_bits(state(given))) % (b - a + 1) + a
end

local function integers(r, given, a, b)
   return check(loops.random_integers(state(given), r, a, b), r)
end

local random = {
   '[Generator] long long', function(given, a, b) return drawn(given, between(a, b)) end,
   '[Generator] long', function(given, b) return drawn(given, upto(b)) end,
   '[Generator]', function(given) return drawn(given, 0, 2^32 - 1) end,
   '*T! [Generator] long long', function(r, given, a, b)
      a, b = between(a, b)
      return integers(r, given, a, b)
   end,
   '*T! [Generator] long', function(r, given, b)
      local a
      a, b = upto(b)
      return integers(r, given, a, b)
   end,
   '*T! [Generator]', function(r, given)
      local dtype = pointer(r).dtype
      return integers(r, given, 0, largest[elements[dtype % elements.DEVICE].name])
   end,
}

-- Make, or give a new size, and fill.
local function made(id)
   return function(r, given, ...)
      geometry.resize(pointer(r), geometry.sizeslike(...))
      return check(loops.random_fill(state(given), r, id, 0, 1), r)
   end
end

local function randperm(r, given, n)
   if n < 1 then
      bad(1, 'must be strictly positive')
   end
   geometry.resize1(pointer(r), n)
   return check(loops.random_permutation(state(given), r), r)
end

local function multinomial(r, given, p, samples, replace)
   return alias.draw(r, state(given), p, samples, replace)
end

local function setup(p, aliases, odds)
   return alias.setup(p, aliases, odds)
end

local function drawAlias(r, given, aliases, odds)
   return alias.drawAlias(r, state(given), aliases, odds)
end

return {
   row('uniform', C.BR_RANDOM_UNIFORM, 0, 1),
   row('normal', C.BR_RANDOM_NORMAL, 0, 1, deviation),
   row('cauchy', C.BR_RANDOM_CAUCHY, 0, 1),
   row('logNormal', C.BR_RANDOM_LOGNORMAL, 1, 2, deviation),
   {name = 'exponential', types = types.FLOAT, forms = {'[Generator] double', scalar(C.BR_RANDOM_EXPONENTIAL),
      '*T! [Generator] real', fill(C.BR_RANDOM_EXPONENTIAL)}},
   {name = 'geometric', types = types.NUMERIC, forms = {'[Generator] double', scalar(C.BR_RANDOM_GEOMETRIC, chance),
      '*T! [Generator] double', fill(C.BR_RANDOM_GEOMETRIC, chance, true)}},
   -- torch.bernoulli() has always been 1.
   {name = 'bernoulli', types = types.NUMERIC, forms = {
      '[Generator] [double=1]', scalar(C.BR_RANDOM_BERNOULLI, probability),
      '*T! [Generator] [double=0.5]', fill(C.BR_RANDOM_BERNOULLI, probability, true),
      '*T! [Generator] Float', bernoulli, '*T! [Generator] Double', bernoulli}},
   {name = 'random', types = types.NUMERIC, forms = random},
   {name = 'rand', types = types.FLOAT, forms = {'*T [Generator] sizes', made(C.BR_RANDOM_UNIFORM)}},
   {name = 'randn', types = types.FLOAT, forms = {'*T [Generator] sizes', made(C.BR_RANDOM_NORMAL)}},
   {name = 'randperm', types = types.NUMERIC, forms = {'*T [Generator] long', randperm}},
   {name = 'multinomial', types = types.FLOAT, forms = {'[*Long] [Generator] T int [boolean]', multinomial}},
   {name = 'multinomialAliasSetup_', types = types.FLOAT, forms = {'T *Long *T', setup}},
   {name = 'multinomialAlias_', types = types.FLOAT, forms = {'*Long [Generator] Long T', drawAlias}},
}
