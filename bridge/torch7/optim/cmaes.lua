-- CMA-ES, the evolution strategy that adapts its covariance matrix: minimises without a gradient. The algorithm and
-- its constants are those of N. Hansen's barecmaes2 (https://www.lri.fr/~hansen/barecmaes2.html).
--
-- Only the first result of opfunc is used, and x stays as it is. Returns the best point, a vector; the value of x, of
-- the best point of each generation and of the best of all; and how many points were tried.
local function constants(n, popsize, x)
   local mu = popsize / 2
   local weights = torch.range(0, mu - 1):apply(function(i)
      return math.log(mu + 0.5) - math.log(i + 1)
   end)
   weights:div(weights:sum())
   local mueff = weights:sum() ^ 2 / torch.pow(weights, 2):sum()
   local c1 = 2 / ((n + 1.3) ^ 2 + mueff)
   local cs = (mueff + 2) / (n + mueff + 5)
   return {
      popsize = popsize, mu = mu, weights = weights:typeAs(x), mueff = mueff, c1 = c1, cs = cs,
      cc = (4 + mueff / n) / (n + 4 + 2 * mueff / n),
      cmu = math.min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((n + 2) ^ 2 + mueff)),
      damps = 2 * mueff / popsize + 0.3 + cs,
   }
end

-- C = B diag(D^2) B', and its inverse root.
local function decompose(s)
   s.C = torch.triu(s.C) + torch.triu(s.C, 1):t()
   s.D, s.B = torch.symeig(s.C, 'V')
   s.D = torch.sqrt(s.D)
   s.inverse = s.B * torch.diag(torch.pow(s.D, -1)) * s.B:t()
end

-- Fill `points` with candidates.
local function ask(s, k, points)
   if s.evaluations - s.decomposed > k.popsize / (k.c1 + k.cmu) / s.C:size(1) / 10 then
      s.decomposed = s.evaluations
      decompose(s)
   end
   for i = 1, k.popsize do
      local z = s.D:clone():normal(0, 1):cmul(s.D)
      points[i]:copy(torch.add(s.mean, (s.B * z) * s.sigma))
   end
end

-- The covariance after a generation: element by element, since the order of sums decides which numbers come.
local function adapt(s, k, best, old, c1a)
   local n, C, rows, from = old:size(1), s.C, {}, old:totable()
   local weights, pc = k.weights:totable(), s.pc:totable()
   for i = 1, best:size(1) do
      rows[i] = best[i]:totable()
   end
   for i = 1, n do
      for j = 1, n do
         local sum = 0
         for r = 1, #rows do
            sum = sum + weights[r] * (rows[r][i] - from[i]) * (rows[r][j] - from[j])
         end
         local was = C[i][j]
         C[i][j] = was + ((-c1a - k.cmu) * was + k.c1 * pc[i] * pc[j] + k.cmu * (sum / s.sigma ^ 2))
      end
   end
end

-- Move mean, paths, covariance and step size by one generation: `points` in rows, best first.
local function tell(s, k, points)
   local n, old = s.mean:size(1), s.mean:clone()
   s.mean:zero():addmv(points:t(), k.weights)
   local y = s.mean - old
   s.ps = s.ps - s.ps * k.cs + (s.inverse * y) * ((k.cs * (2 - k.cs) * k.mueff) ^ 0.5 / s.sigma)
   local length = torch.pow(s.ps, 2):sum()
   local hsig = length / (1 - (1 - k.cs) ^ (2 * s.evaluations / k.popsize)) / n < 2 + 4 / (n + 1) and 1 or 0
   s.pc = s.pc - s.pc * k.cc + y * ((k.cc * (2 - k.cc) * k.mueff) ^ 0.5 / s.sigma) * hsig
   adapt(s, k, points, old, k.c1 - (1 - hsig ^ 2) * k.c1 * k.cc * (2 - k.cc))
   s.sigma = s.sigma * math.exp(math.min(0.6, (k.cs / k.damps) * (length / n - 1) / 2))
end

-- Why to stop: a table of reasons and limits.
local function reasons(s, maxEval, target)
   local list, values = {}, s.values
   if s.evaluations == 0 then
      return list
   end
   list.evals = s.evaluations >= maxEval and maxEval or nil
   list.ftarget = target ~= nil and values[1] <= target and target or nil
   list.condition = s.D:max() > 1e7 * s.D:min() and 1e7 or nil
   list.tolfun = values:nElement() > 1 and values[values:nElement()] - values[1] < 1e-12 and 1e-12 or nil
   list.tolx = s.sigma * s.D:max() < 1e-11 and 1e-11 or nil
   return list
end

local function display(s, k, every)
   local generation = s.evaluations / k.popsize
   if generation == 1 or generation % (10 * every) == 0 then
      print('evals:\t ax-ratio max(std)   f-value')
   end
   if generation <= 2 or generation % every == 0 then
      local deviation = math.sqrt(torch.diag(s.C):max())
      print(tostring(s.evaluations) .. ': ' .. string.format(' %6.1f %8.1e ', s.D:max() / s.D:min(),
         s.sigma * deviation) .. tostring(s.values[1]))
   end
end

local function check(x)
   if x.triu == nil or x.diag == nil then
      error('Unsupported Tensor ' .. x:type() .. ' please use Float- or DoubleTensor for x', 3)
   elseif not pcall(function() torch.symeig(torch.eye(1):typeAs(x), 'V') end) then
      error('torch.symeig not available for ' .. x:type() .. ' please use Float- or DoubleTensor for x', 3)
   end
end

return function(opfunc, x, config, state)
   check(x)
   state = state or config or {}
   local n = x:nElement()
   local popsize = state.popsize or 4 + math.floor(3 * math.log(n))
   local sigma, every = state.sigma or 0.5, state.verb_disp or 0
   local maxEval = tonumber(state.maxEval) or 1e3 * n ^ 2
   local least = state.min_iterations or 1
   local k = constants(n, popsize, x)
   local function zeros()
      return torch.Tensor(n):zero():typeAs(x)
   end
   local s = {
      mean = x:clone():view(-1), sigma = sigma, evaluations = 0, decomposed = 0, pc = zeros(), ps = zeros(),
      B = torch.eye(n):typeAs(x), C = torch.eye(n):typeAs(x), inverse = torch.eye(n):typeAs(x), D = zeros():fill(1),
      values = torch.Tensor(popsize),
   }
   local points, history = torch.Tensor(popsize, n):typeAs(x), {(opfunc(x))}
   local best, lowest, found, generation = nil, nil, 0, 0
   while next(reasons(s, maxEval, state.ftarget)) == nil or generation < least do
      generation = generation + 1
      ask(s, k, points)
      for i = 1, popsize do
         s.values[i] = opfunc(points[i]:viewAs(x))
      end
      s.evaluations = s.evaluations + popsize
      local order
      s.values, order = torch.sort(s.values)
      local chosen = points:index(1, order:narrow(1, 1, k.weights:size(1)))
      history[#history + 1] = s.values[1]
      if lowest == nil or s.values[1] < lowest then
         best, lowest, found = chosen[1]:clone(), s.values[1], s.evaluations
      end
      tell(s, k, chosen)
      if every ~= 0 then
         display(s, k, every)
      end
   end
   if every > 0 then
      for reason, limit in pairs(reasons(s, maxEval, state.ftarget)) do
         print('termination by', reason, '=', limit)
      end
      print('best f-value =', lowest)
      print('solution = ')
      print(best)
      print('best found at iteration: ', found / popsize, ' , total iterations: ', generation)
   end
   history[#history + 1] = lowest
   return best, history, s.evaluations
end
