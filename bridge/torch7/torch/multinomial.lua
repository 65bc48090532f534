-- Drawing categories by weight: torch.multinomial, and Walker's alias tables for drawing many.
local ffi = require 'ffi'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local object = require 'torch.object'

local C = native.C
local fail = arguments.fail
local reals = {'Float', 'Double'}

-- Weights as a contiguous DoubleTensor, and whether sums over them are rounded to float.
local function weightsof(index, p)
   local dtype = object.dtype(p)
   if dtype ~= elements.Float.id and dtype ~= elements.Double.id then
      fail(index, '?', 'torch.FloatTensor or torch.DoubleTensor expected, got ' .. arguments.typename(p), 1)
   end
   return p:double():contiguous(), dtype == elements.Float.id and 1 or 0
end

local function whole(index, n)
   n = arguments.integer(index, '?', n)
   if n < 1 then
      fail(index, '?', 'cannot sample n_sample <= 0 samples', 1)
   end
   return n
end

return function(torch, leading, methods)
   -- A contiguous LongTensor to be written: `result` itself, or one to be copied into it.
   local function writable(result)
      return result:isContiguous() and result or torch.LongTensor(result:size())
   end

   local function multinomial(result, p, state, samples, replace)
      if p:dim() ~= 1 and p:dim() ~= 2 then
         fail(1, '?', 'prob_dist must be a vector or a matrix')
      end
      local weights, single = weightsof(1, p)
      samples = whole(2, samples)
      local rows = p:dim() == 2 and p:size(1) or 1
      local categories = p:size(p:dim())
      if not replace and samples > categories then
         fail(2, '?', 'cannot sample n_sample > prob_dist:size(1) samples without replacement')
      end
      local drawn = torch.LongTensor(rows, samples)
      local sums = ffi.new('double[?]', categories)
      for row = 0, rows - 1 do
         if C.br_random_multinomial(state, weights:data() + row * categories, sums, categories,
               drawn:data() + row * samples, samples, replace and 1 or 0, single) ~= 0 then
            fail(2, '?', 'invalid multinomial distribution (sum of probabilities <= 0)')
         end
      end
      if p:dim() == 1 then
         drawn:resize(samples)
      end
      return result and result:resize(drawn:size()):copy(drawn) or drawn
   end

   -- torch.multinomial([result,] [generator,] weights, samples, [replace]): the generator may come before or, as in
   -- the method, after the weights.
   local function parse(result, state, p, ...)
      if not object.dtype(p) then
         fail(1, '?', 'torch.*Tensor expected, got ' .. (p == nil and 'no value' or arguments.typename(p)), 1)
      end
      if type(...) == 'userdata' then
         return multinomial(result, p, leading(...))
      end
      return multinomial(result, p, state, ...)
   end

   function torch.multinomial(...)
      local first = ...
      if object.dtype(first) == elements.Long.id then
         return parse(first, leading(select(2, ...)))
      end
      return parse(nil, leading(...))
   end
   methods(torch, reals, 'multinomial', torch.multinomial)

   function torch.multinomialAliasSetup_(p, alias, q)
      local weights, single = weightsof(1, p)
      local n = weights:nElement()
      alias, q = alias or torch.LongTensor(), q or p.new()
      local aliases, odds = torch.LongTensor(n), torch.DoubleTensor(n)
      local scratch = torch.LongTensor(2 * n)
      if n == 0 or C.br_random_alias_setup(weights:data(), n, aliases:data(), odds:data(), scratch:data(), single) ~= 0
      then
         fail(1, '?', 'probabilities must not be negative, and there must be one')
      end
      return alias:resize(n):copy(aliases), q:resize(n):copy(odds)
   end

   function torch.multinomialAlias_(output, ...)
      local state, alias, q = leading(...)
      arguments.tensor(1, '?', output, elements.Long.id)
      arguments.tensor(2, '?', alias, elements.Long.id)
      arguments.tensor(3, '?', q)
      local n = alias:nElement()
      if n == 0 or q:nElement() ~= n then
         fail(3, '?', 'as many odds as aliases expected')
      end
      alias, q = alias:contiguous(), q:double():contiguous()
      local drawn = writable(output)
      if C.br_random_alias_draw(state, alias:data(), q:data(), n, drawn:data(), output:nElement()) ~= 0 then
         fail(2, '?', 'aliases out of range')
      end
      return drawn == output and output or output:copy(drawn)
   end

   for _, name in ipairs{'multinomialAliasSetup_', 'multinomialAlias_'} do
      methods(torch, reals, name, torch[name])
   end

   -- The tables for `p`, as one value: {aliases, odds}; `state` is reused.
   function torch.multinomialAliasSetup(p, state)
      state = type(state) == 'table' and state or {}
      state[1], state[2] = torch.multinomialAliasSetup_(p, state[1], state[2])
      return state
   end

   function torch.multinomialAlias(output, state)
      return torch.multinomialAlias_(output, state[1], state[2])
   end
end
