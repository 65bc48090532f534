-- Random numbers: seeds and states, single numbers, tensors filled in place, permutations.
--
-- Every call takes the generator as an optional first argument (after the tensor, in tensor methods).
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local object = require 'torch.object'
local kernels = require 'torch.kernels'

local C, loops = native.C, kernels.loops
local fail, integer, number = arguments.fail, arguments.integer, arguments.number

local function deviation(_, b, what)
   if not (b > 0) then
      fail(2, what, 'standard deviation must be strictly positive', 1)
   end
end

-- Distributions: name, number in bridge/core/random.h, default parameters (none: required), types of tensors that can
-- be filled, a check of the parameters.
local reals = {'Float', 'Double'}
local all = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'}
local distributions = {
   {'uniform', C.BR_RANDOM_UNIFORM, 0, 1, reals},
   {'normal', C.BR_RANDOM_NORMAL, 0, 1, reals, deviation},
   {'cauchy', C.BR_RANDOM_CAUCHY, 0, 1, reals},
   {'logNormal', C.BR_RANDOM_LOGNORMAL, 1, 2, reals, deviation},
   {'exponential', C.BR_RANDOM_EXPONENTIAL, nil, 0, reals},
   {'geometric', C.BR_RANDOM_GEOMETRIC, nil, 0, all, function(p, _, what)
      if not (p > 0 and p < 1) then
         fail(1, what, 'must be > 0 and < 1', 1)
      end
   end},
   {'bernoulli', C.BR_RANDOM_BERNOULLI, 0.5, 0, all, function(p, _, what)
      if not (p >= 0 and p <= 1) then
         fail(1, what, 'must be >= 0 and <= 1', 1)
      end
   end},
}

local function describe(...)
   local words = {}
   for i = 1, select('#', ...) do
      words[i] = arguments.describe((select(i, ...))) .. ' '
   end
   return #words == 0 and 'no arguments provided' or table.concat(words)
end

local function parameter(value, default, ...)
   local found = number(value)
   if value == nil then
      found = default
   end
   if not found then
      error('invalid arguments: ' .. describe(...) .. '\nexpected arguments: [Generator] double', 4)
   end
   return found
end

local function filled(rc, tensor)
   if rc ~= 0 then
      error('the memory behind this tensor was released or shrunk by its owner', 3)
   end
   return tensor
end

-- Put a function into the metatables of some tensor types.
local function methods(torch, names, name, f)
   for _, element in ipairs(names) do
      torch.getmetatable('torch.' .. element .. 'Tensor')[name] = f
   end
end

local function install(torch)
   local generator = require('torch.generator')(torch)
   local stateof = generator.state

   -- The generator that leads the arguments, or the default one; then the other arguments.
   local function leading(...)
      local state = stateof((...))
      if state then
         return state, select(2, ...)
      end
      return generator.default, ...
   end

   local function distribution(name, id, first, second, types, check)
      local single = name == 'bernoulli' and 1 or first -- torch.bernoulli() has always been 1

      local function scalar(state, ...)
         local a, b = ...
         a, b = parameter(a, single, ...), parameter(b, second, ...)
         if check then
            check(a, b, '?')
         end
         return C.br_random_draw(state, id, a, b)
      end

      local function fill(self, state, ...)
         local a, b = ...
         if name == 'bernoulli' and object.dtype(a) then
            local p = a:double():contiguous()
            if p:nElement() ~= self:nElement() then
               error('inconsistent tensor size', 3)
            end
            return filled(loops.random_bernoulli_each(state, self, p), self, p)
         end
         a, b = parameter(a, first, self, ...), parameter(b, second, self, ...)
         if check then
            check(a, b, name)
         end
         return filled(loops.random_fill(state, self, id, a, b), self)
      end

      methods(torch, types, name, function(self, ...)
         arguments.tensor(1, name, self)
         return fill(self, leading(...))
      end)
      torch[name] = function(...)
         local self = ...
         if object.dtype(self) then
            return self[name](...)
         end
         return (scalar(leading(...)))
      end
   end

   for _, row in ipairs(distributions) do
      distribution(unpack(row, 1, 6))
   end

   -- The range that random(), random(b) and random(a, b) mean; `most` is the largest draw of random().
   local function range(what, most, a, b)
      if a == nil then
         return 0, most
      elseif b == nil then
         a, b = 1, integer(1, what, a)
         if b < 1 then
            fail(1, what, 'upper bound must be strictly positive', 1)
         end
         return a, b
      end
      a, b = integer(1, what, a), integer(2, what, b)
      if b < a then
         fail(2, what, 'upper bound must be larger than lower bound', 1)
      end
      return a, b
   end

   local function random(state, ...)
      local a, b = range('?', 2^32 - 1, ...)
      return tonumber(C.br_random_bits(state)) % (b - a + 1) + a
   end

   function torch.random(...)
      local self = ...
      if object.dtype(self) then
         return self:random(select(2, ...))
      end
      return (random(leading(...)))
   end

   -- The largest integer that random() gives in each type (a real type: the last that it counts exactly).
   local largest = {Byte = 2^8 - 1, Char = 2^7 - 1, Short = 2^15 - 1, Int = 2^31 - 1, Long = 2^62, Float = 2^24,
      Double = 2^53}

   for name, most in pairs(largest) do
      local function fill(self, state, ...)
         local a, b = range('random', most, ...)
         return filled(loops.random_integers(state, self, a, b), self)
      end
      methods(torch, {name}, 'random', function(self, ...)
         arguments.tensor(1, 'random', self, elements.beside(elements[name].id, object.dtype(self) or 0))
         return fill(self, leading(...))
      end)
   end

   -- rand and randn: make (or resize) a tensor, then fill it.
   local function maker(name, fill, ...)
      local parameters = {...}
      local function make(self, state, ...)
         arguments.tensor(1, name, self)
         self:resize(...)
         return filled(loops.random_fill(state, self, fill, unpack(parameters)), self)
      end
      methods(torch, reals, name, function(self, ...)
         return make(self, leading(...))
      end)
      torch[name] = function(...)
         local self = ...
         if select('#', ...) == 0 then
            error('invalid arguments: no arguments provided\nexpected arguments: '
               .. '[*Tensor*] [Generator] (LongStorage | dim1 [dim2...])', 2)
         elseif object.dtype(self) then
            return self[name](...)
         end
         local result = torch.Tensor()
         return result[name](result, ...)
      end
   end
   maker('rand', C.BR_RANDOM_UNIFORM, 0, 1)
   maker('randn', C.BR_RANDOM_NORMAL, 0, 1)

   local function permute(self, state, n)
      arguments.tensor(1, 'randperm', self)
      n = integer(1, '?', n)
      if n < 1 then
         fail(1, '?', 'must be strictly positive', 1)
      end
      self:resize(n)
      return filled(loops.random_permutation(state, self), self)
   end
   methods(torch, all, 'randperm', function(self, ...)
      return permute(self, leading(...))
   end)
   function torch.randperm(...)
      local self = ...
      if object.dtype(self) then
         return permute(self, leading(select(2, ...)))
      end
      return permute(torch.Tensor(), leading(...))
   end

   local function manualSeed(state, seed)
      seed = integer(1, '?', seed)
      if not (math.abs(seed) < 2^63) then
         fail(1, '?', 'a seed is a whole number below 2^63, got ' .. seed, 1)
      end
      C.br_random_seed(state, ffi.cast('uint64_t', ffi.cast('int64_t', seed)))
   end

   function torch.manualSeed(...)
      manualSeed(leading(...))
   end

   function torch.seed(...)
      local state = leading(...)
      C.br_random_seed(state, C.br_random_entropy())
      return tonumber(state.initial_seed)
   end

   function torch.initialSeed(...)
      return tonumber((leading(...)).initial_seed)
   end

   function torch.getRNGState(...)
      local state, result = leading(...)
      result = result or torch.ByteTensor()
      result:resize(generator.STATE)
      local bytes = torch.ByteTensor(generator.STATE)
      ffi.copy(bytes:data(), state, generator.STATE)
      return result:copy(bytes)
   end

   function torch.setRNGState(...)
      local state, bytes = leading(...)
      arguments.tensor(1, '?', bytes, elements.Byte.id)
      if bytes:nElement() ~= generator.STATE then
         fail(1, '?', string.format('RNG state is wrong size: %d bytes, not %d', bytes:nElement(), generator.STATE))
      end
      bytes = bytes:contiguous()
      generator.restore(state, bytes:data())
   end

   require('torch.multinomial')(torch, leading, methods)
end

return install
