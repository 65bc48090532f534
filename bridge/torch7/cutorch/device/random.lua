-- Filling tensors on the device with random numbers: by the device's own generator, torch's, unless one of Torch7's is
-- given, which draws on the CPU.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local aten = require 'torch.aten'
local place = require 'cutorch.device.place'
local order = require 'cutorch.device.order'

local C = native.C
local tensor = object.tensor
local op = aten.op

local function two(name)
   local f = op(name, 'Tffn')
   return function(r, a, b)
      f(r, a, b)
   end
end

local exponential, geometric = op('exponential_', 'Tfn'), op('geometric_', 'Tfn')
local bernoulli = op('bernoulli_.float', 'Tfn')

local distributions = {
   [C.BR_RANDOM_UNIFORM] = two 'uniform_',
   [C.BR_RANDOM_NORMAL] = two 'normal_',
   [C.BR_RANDOM_CAUCHY] = two 'cauchy_',
   [C.BR_RANDOM_LOGNORMAL] = two 'log_normal_',
   [C.BR_RANDOM_EXPONENTIAL] = function(r, rate) exponential(r, rate) end,
   -- Torch7's p is the chance to go on, torch's the chance to end.
   [C.BR_RANDOM_GEOMETRIC] = function(r, p) geometric(r, 1 - p) end,
   [C.BR_RANDOM_BERNOULLI] = function(r, p) bernoulli(r, p) end,
}

local each, between = op('bernoulli_.Tensor', 'TTn'), op('random_.from', 'Ti?in')
local permutation, categories = op('randperm.generator_out', 'inT'), op('multinomial.out', 'TibnT')

return function(torch)
   local default = require('torch.generator').default
   local loops = {}

   -- The loop `name` by f, or on the CPU where a generator was given.
   local function loop(name, f)
      loops[name] = function(state, r, ...)
         if state ~= default then
            return place.onhost(name, 2, state, r, ...)
         elseif tensor(r).nDimension > 0 then
            f(r, ...)
         end
         return 0
      end
   end

   loop('br_random_fill', function(r, which, a, b)
      distributions[which](r, a, b)
   end)

   loop('br_random_integers', function(r, a, b)
      between(r, a, b + 1)
   end)

   loop('br_random_bernoulli_each', function(r, p)
      each(r, place.shaped(place.there(p), r))
   end)

   -- The numbers from 1 to as many as there are elements.
   loop('br_random_permutation', function(r)
      local n = geometry.elements(tensor(r))
      local drawn = place.vector(elements.Long.id + elements.DEVICE, n)
      permutation(n, drawn)
      order.fromone(drawn, drawn)
      r:copy(drawn)
   end)

   -- torch.multinomial([result,] weights, samples [, replace])
   local multinomial = torch.multinomial
   local function onthedevice(result, p, samples, replace)
      if p:dim() ~= 1 and p:dim() ~= 2 then
         arguments.bad(1, 'prob_dist must be a vector or a matrix')
      end
      samples = arguments.integer(2, samples)
      if samples < 1 then
         arguments.bad(2, 'cannot sample n_sample <= 0 samples')
      elseif not replace and samples > p:size(p:dim()) then
         arguments.bad(2, 'cannot sample n_sample > prob_dist:size(1) samples without replacement')
      end
      local drawn = object.newtensor(elements.Long.id + elements.DEVICE)
      drawn:resize(unpack(p:dim() == 1 and {samples} or {p:size(1), samples}))
      categories(p, samples, replace and true or false, drawn)
      order.fromone(drawn, drawn)
      return result and result:resize(drawn:size()):copy(drawn) or drawn
   end

   function torch.multinomial(first, second, ...)
      local one, other = object.dtype(first), object.dtype(second)
      if other and other >= elements.DEVICE then
         return onthedevice(first, second, ...)
      elseif one and one >= elements.DEVICE and not other then
         return onthedevice(nil, first, second, ...)
      end
      return multinomial(first, second, ...)
   end
   for _, name in ipairs{'Float', 'Double'} do
      object.metatables[elements[name].id + elements.DEVICE].multinomial = torch.multinomial
   end
   return loops
end
