-- CMA-ES, the evolution strategy that adapts its covariance matrix: minimises without a gradient. The algorithm and
-- its constants are those of N. Hansen's barecmaes2 (https://www.lri.fr/~hansen/barecmaes2.html).
--
-- Only the first result of opfunc is used. Returns x (changed in place to the best point seen) and the values of x
-- before, and of the best point after each generation.
local function constants(n, popsize)
   local mu = math.floor(popsize / 2)
   local weights = torch.DoubleTensor(mu)
   for i = 1, mu do
      weights[i] = math.log(popsize / 2 + 0.5) - math.log(i)
   end
   weights:div(weights:sum())
   local mueff = 1 / weights:dot(weights)
   local c1 = 2 / ((n + 1.3) ^ 2 + mueff)
   local cs = (mueff + 2) / (n + mueff + 5)
   return {
      mu = mu, weights = weights, mueff = mueff, c1 = c1, cs = cs,
      cc = (4 + mueff / n) / (n + 4 + 2 * mueff / n),
      cmu = math.min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((n + 2) ^ 2 + mueff)),
      damps = 2 * mueff / popsize + 0.3 + cs,
      chi = 2 + 4 / (n + 1),
   }
end

-- C = B diag(D^2) B'; and its inverse root.
local function decompose(s)
   s.C:add(s.C:t():clone()):mul(0.5)
   local values, vectors = torch.symeig(s.C, 'V')
   s.B = vectors
   s.D = values:clamp(1e-300, math.huge):sqrt()
   local scaled = s.B:clone()
   for i = 1, scaled:size(2) do
      scaled:select(2, i):div(s.D[i])
   end
   s.invsqrtC = torch.mm(scaled, s.B:t())
end

-- Move mean, paths, covariance and step size by one generation: `points` in rows, best first.
local function adapt(s, k, points, popsize)
   local n = s.xmean:size(1)
   local old = s.xmean
   local best = points:narrow(1, 1, k.mu)
   s.xmean = torch.mv(best:t(), k.weights)
   local y = s.xmean - old

   s.ps:mul(1 - k.cs):add(math.sqrt(k.cs * (2 - k.cs) * k.mueff) / s.sigma, torch.mv(s.invsqrtC, y))
   local length = s.ps:dot(s.ps) / n
   local hsig = length / (1 - (1 - k.cs) ^ (2 * s.counteval / popsize)) < k.chi and 1 or 0
   s.pc:mul(1 - k.cc):add(hsig * math.sqrt(k.cc * (2 - k.cc) * k.mueff) / s.sigma, y)

   local c1a = k.c1 * (1 - (1 - hsig) * k.cc * (2 - k.cc))
   s.C:mul(1 - c1a - k.cmu):addr(k.c1, s.pc, s.pc)
   for i = 1, k.mu do
      local step = (best[i] - old):div(s.sigma)
      s.C:addr(k.cmu * k.weights[i], step, step)
   end
   s.sigma = s.sigma * math.exp(math.min(1, k.cs / k.damps * (length - 1) / 2))
end

local function check(state, n)
   local popsize = state.popsize or 4 + math.floor(3 * math.log(n))
   if type(popsize) ~= 'number' or popsize < 4 then
      error('optim.cmaes: expected a popsize of at least 4, got ' .. tostring(popsize))
   end
   local sigma = state.sigma or 0.5
   if type(sigma) ~= 'number' or not (sigma > 0) then
      error('optim.cmaes: expected a sigma above 0, got ' .. tostring(sigma))
   end
   return math.floor(popsize), sigma
end

return function(opfunc, x, config, state)
   state = state or config or {}
   local n = x:nElement()
   local popsize, sigma = check(state, n)
   local maxEval = state.maxEval or 1e3 * n ^ 2
   local verb_disp = state.verb_disp or 100
   local k = constants(n, popsize)
   local s = {
      xmean = x:clone():double():view(n), sigma = sigma, counteval = 0,
      pc = torch.DoubleTensor(n):zero(), ps = torch.DoubleTensor(n):zero(),
      C = torch.DoubleTensor(n, n):zero(),
   }
   for i = 1, n do
      s.C[i][i] = 1
   end
   decompose(s)

   local candidate = x:clone()
   local least = opfunc(candidate)
   local best, values, decomposed, generation = s.xmean:clone(), {least}, 0, 0
   while s.counteval < maxEval do
      if s.counteval - decomposed > popsize / (k.c1 + k.cmu) / n / 10 then
         decompose(s)
         decomposed = s.counteval
      end
      local points, fitness = torch.DoubleTensor(popsize, n), torch.DoubleTensor(popsize)
      for i = 1, popsize do
         local normal = torch.DoubleTensor(n):normal():cmul(s.D)
         points[i]:mv(s.B, normal):mul(s.sigma):add(s.xmean)
         candidate:copy(points[i])
         fitness[i] = opfunc(candidate)
      end
      s.counteval = s.counteval + popsize
      generation = generation + 1
      local sorted, order = fitness:sort()
      if sorted[1] < least then
         least = sorted[1]
         best:copy(points[order[1]])
      end
      values[#values + 1] = least
      adapt(s, k, points:index(1, order), popsize)
      if verb_disp > 0 and generation % verb_disp == 0 then
         print(string.format('evals: %d, ratio: %.1e, sigma: %.1e, f: %.6e', s.counteval,
            s.D:max() / s.D:min(), s.sigma, least))
      end
      if state.ftarget and least <= state.ftarget or sorted[1] == sorted[popsize]
         or not (s.D:max() <= 1e7 * s.D:min()) or s.sigma * s.D:max() < 1e-13 or s.sigma ~= s.sigma then
         break
      end
   end
   state.evalCounter = (state.evalCounter or 0) + s.counteval + 1
   x:copy(best)
   return x, values, s.counteval + 1
end
