-- Differential evolution (rand/1/bin; Storn and Price, 1997): minimises without a gradient. Only the first result of
-- opfunc is used. Returns x (changed in place to the best point seen) and the values of x before and of the best
-- point after each generation.
local function check(name, value, low, high)
   if type(value) ~= 'number' or not (value >= low and value <= high) then
      error(string.format('optim.de: expected a %s of %g to %g, got %s', name, low, high, tostring(value)))
   end
   return value
end

-- `count` different numbers of 1..size other than `not_this`.
local function others(not_this, size, count)
   local found, taken = {}, {[not_this] = true}
   while #found < count do
      local i = torch.random(1, size)
      if not taken[i] then
         taken[i] = true
         found[#found + 1] = i
      end
   end
   return unpack(found)
end

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local n = x:nElement()
   local popsize = math.floor(check('popsize', config.popsize or math.max(10 * n, 4), 4, 1e7))
   local scaleFactor = check('scaleFactor', config.scaleFactor or 0.5, 0, 2)
   local crossoverRate = check('crossoverRate', config.crossoverRate or 0.9, 0, 1)
   local maxEval = check('maxEval', config.maxEval or config.maxFEs or 1000 * n, 1, math.huge)
   local low, high = config.minRegion, config.maxRegion -- numbers or tensors like x

   -- The first population: x, and points of the region or, without one, around x.
   local population = {x:clone()}
   for i = 2, popsize do
      local point = x:clone()
      if low and high then
         local bottom = torch.isTensor(low) and low or x.new():resizeAs(x):fill(low)
         local top = torch.isTensor(high) and high or x.new():resizeAs(x):fill(high)
         point:uniform(0, 1):cmul(top - bottom):add(bottom)
      else
         point:add(x.new():resizeAs(x):normal())
      end
      population[i] = point
   end

   local fitness, evaluations, best = {}, 0, 1
   local trial = x:clone()
   for i = 1, popsize do
      fitness[i] = opfunc(trial:copy(population[i]))
      evaluations = evaluations + 1
      best = fitness[i] < fitness[best] and i or best
   end
   local values = {fitness[1], fitness[best]}

   local mask, child = torch.ByteTensor(x:size()), x:clone()
   while evaluations < maxEval do
      for i = 1, popsize do
         local a, b, c = others(i, popsize, 3)
         trial:copy(population[b]):add(-1, population[c]):mul(scaleFactor):add(population[a])
         mask:bernoulli(crossoverRate)
         mask:view(n)[torch.random(1, n)] = 1 -- at least one element comes from the mutant
         child:copy(population[i]):maskedCopy(mask, trial:maskedSelect(mask))
         if low and high then
            child:cmin(high):cmax(low)
         end
         local f = opfunc(child)
         evaluations = evaluations + 1
         if f <= fitness[i] then
            population[i]:copy(child)
            fitness[i] = f
            best = f < fitness[best] and i or best
         end
         if evaluations >= maxEval then
            break
         end
      end
      values[#values + 1] = fitness[best]
   end
   state.evalCounter = (state.evalCounter or 0) + evaluations
   x:copy(population[best])
   return x, values, evaluations
end
