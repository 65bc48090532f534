-- Drawing categories by weight, and Walker's alias tables for drawing many.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'

local C = native.C
local bad = arguments.bad
local pointer, scratch = object.tensor, object.scratch
local DOUBLE, LONG = elements.Double.id, elements.Long.id

local alias = {}

-- Weights as a contiguous DoubleTensor, and whether sums over them are rounded to float.
local function weightsof(p)
   return p:double():contiguous(), pointer(p).dtype == elements.Float.id and 1 or 0
end

-- A contiguous tensor of `count` elements.
local function vector(dtype, count)
   local made = object.newtensor(dtype)
   geometry.resize1(pointer(made), count)
   return made
end

-- `samples` categories for each row of weights, into r.
function alias.draw(r, state, p, samples, replace)
   local t = pointer(p)
   if t.nDimension == 0 then
      bad(2, 'dimension %d out of range of %dD tensor', 1, 0)
   elseif t.nDimension > 2 then
      bad(1, 'prob_dist must be a vector or a matrix')
   end
   local rows = t.nDimension == 2 and tonumber(t.size[0]) or 1
   local categories = tonumber(t.size[t.nDimension - 1])
   if samples < 1 then
      bad(2, 'cannot sample n_sample < 0 samples')
   elseif not replace and samples > categories then
      bad(2, 'cannot sample n_sample > prob_dist:size(1) samples without replacement')
   end
   local weights, single = weightsof(p)
   local drawn = vector(LONG, rows * samples)
   local sums = ffi.new('double[?]', categories)
   for row = 0, rows - 1 do
      if C.br_random_multinomial(state, weights:data() + row * categories, sums, categories,
            drawn:data() + row * samples, samples, replace and 1 or 0, single) ~= 0 then
         bad(2, 'invalid multinomial distribution (sum of probabilities <= 0)')
      end
   end
   scratch[0], scratch[1] = t.nDimension == 1 and samples or rows, samples
   geometry.resize(pointer(r), t.nDimension)
   object.keep(p)
   r:copy(drawn)
   return r
end

-- The tables for p: the other category of each, and how often it is not taken.
function alias.setup(p, aliases, odds)
   local weights, single = weightsof(p)
   local n = weights:nElement()
   local others, kept, scratch_ = vector(LONG, n), vector(DOUBLE, n), vector(LONG, 2 * n)
   if n == 0 or C.br_random_alias_setup(weights:data(), n, others:data(), kept:data(), scratch_:data(), single) ~= 0
   then
      bad(2, 'q_min is less than 0')
   end
   geometry.resize1(pointer(aliases), n)
   geometry.resize1(pointer(odds), n)
   return aliases:copy(others), odds:copy(kept)
end

-- Fill r by the tables.
function alias.drawAlias(r, state, aliases, odds)
   local n = aliases:nElement()
   if n == 0 or odds:nElement() ~= n then
      bad(3, 'as many odds as aliases expected')
   end
   aliases, odds = aliases:contiguous(), odds:double():contiguous()
   local drawn = r:isContiguous() and r or vector(LONG, r:nElement())
   if C.br_random_alias_draw(state, aliases:data(), odds:data(), n, drawn:data(), r:nElement()) ~= 0 then
      bad(2, 'aliases out of range')
   end
   return drawn == r and r or r:copy(drawn)
end

-- The tables for `p`, as one value: {aliases, odds}; `state` is reused.
function alias.install(torch)
   function torch.multinomialAliasSetup(p, state)
      state = type(state) == 'table' and state or {}
      if state[1] then
         state[1], state[2] = torch.multinomialAliasSetup_(p, state[1], state[2])
      else
         state[1], state[2] = torch.multinomialAliasSetup_(p)
      end
      return state
   end

   function torch.multinomialAlias(output, state)
      return state[2].multinomialAlias_(output, state[1], state[2])
   end
end

return alias
