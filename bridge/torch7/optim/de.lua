-- Differential evolution (best/1/bin; Storn and Price, 1997): minimises without a gradient. Only the first result of
-- opfunc is used.
--
-- As in the original, its random numbers are those of a generator of its own, so each call takes the same steps; it
-- begins with the worst point as the best; and x stays as it is. Returns the best point, a vector, and all values as a
-- tensor of maxFEs elements.
return function(opfunc, x, config)
   config = config or {}
   local n = x:nElement()
   local popsize = config.popsize or 10 * n
   local scaleFactor, crossoverRate = config.scaleFactor or 0.5, config.crossoverRate or 0.9
   local maxFEs = tonumber(config.maxFEs)
   if not maxFEs then
      error('optim.de: config.maxFEs, the number of evaluations, is missing', 2)
   end
   local generator = torch.Generator()
   torch.manualSeed(generator, 1)

   local values = x.new(maxFEs)
   local population, children = x.new(popsize, n), x.new(popsize, n)
   local fitness, younger = x.new(popsize), x.new(popsize)
   local evaluations = 0
   local function evaluate(points, into, i)
      into[i] = opfunc(points[i])
      evaluations = evaluations + 1
      if evaluations <= maxFEs then
         values[evaluations] = into[i]
      end
   end

   population:uniform(generator, config.minRegion or -30, config.maxRegion or 30)
   for i = 1, popsize do
      evaluate(population, fitness, i)
   end
   local most, index = fitness:max(1)
   local least, best = most[1], x.new(n):copy(population[index[1]])

   -- A point of the population that is none of these.
   local function other(i, j)
      local k
      repeat
         k = torch.random(generator, 1, popsize)
      until k ~= i and k ~= j
      return k
   end

   while evaluations + 1 < maxFEs do
      for i = 1, popsize do
         local a = other(i)
         local b = other(i, a)
         local one = torch.random(generator, 1, n)
         local child, parent, first, second = children[i], population[i], population[a], population[b]
         for j = 1, n do
            if torch.uniform(generator, 0, 1) < crossoverRate or i == one then
               child[j] = best[j] + scaleFactor * (first[j] - second[j])
            else
               child[j] = parent[j]
            end
         end
         evaluate(children, younger, i)
      end
      for i = 1, popsize do
         if younger[i] <= fitness[i] then
            population[i]:copy(children[i])
            fitness[i] = younger[i]
            if fitness[i] < least then
               least = fitness[i]
               best:copy(children[i])
            end
         end
      end
   end
   return best, values
end
