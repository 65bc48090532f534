-- A line search for a step that satisfies the strong Wolfe conditions, with cubic interpolation: first an interval
-- that holds such a step, then ever smaller ones (Nocedal and Wright, algorithms 3.5 and 3.6).
--
-- lswolfe(opfunc, x, t, d, f, g, gtd, options): first step t, direction d, value f, gradient g and slope gtd at x.
-- Returns f, g, x and the step at the point found, and how often the function was evaluated.
local polyinterp = require 'optim.polyinterp'

return function(opfunc, x, t, d, f, g, gtd, options)
   options = options or {}
   local c1, c2 = options.c1 or 1e-4, options.c2 or 0.9
   local tolX, maxIter = options.tolX or 1e-9, options.maxIter or 20

   local start, evaluations = x:clone(), 0
   -- A point of the line; the gradient is copied, since opfunc may give the same tensor each time.
   local function evaluate(step)
      x:copy(start):add(step, d)
      local value, gradient = opfunc(x)
      evaluations = evaluations + 1
      gradient = gradient:clone()
      return {t = step, f = value, g = gradient, gtd = gradient:dot(d)}
   end
   local function between(one, other, low, high)
      for _, point in ipairs{one, other} do
         if point.f ~= point.f or point.gtd ~= point.gtd then -- outside the function's domain: halve
            return ((low or one.t) + (high or other.t)) / 2
         end
      end
      return polyinterp(torch.DoubleTensor{{one.t, one.f, one.gtd}, {other.t, other.f, other.gtd}}, low, high)
   end
   local function armijo(point)
      return point.f <= f + c1 * point.t * gtd
   end
   local function flat(point)
      return math.abs(point.gtd) <= -c2 * gtd
   end

   local origin = {t = 0, f = f, g = g:clone(), gtd = gtd}
   local previous, new = origin, evaluate(t)
   local low, high, done -- the bracket's ends in the order of their making; one of them alone when `done`
   local iterations = 0
   while iterations < maxIter do
      if not armijo(new) or iterations > 1 and new.f >= previous.f then
         low, high = previous, new
         break
      elseif flat(new) then
         low, done = new, true
         break
      elseif new.gtd >= 0 then
         low, high = previous, new
         break
      end
      t = between(previous, new, new.t + 0.01 * (new.t - previous.t), new.t * 10)
      previous, new = new, evaluate(t)
      iterations = iterations + 1
   end
   if iterations == maxIter and not low then
      low, high = origin, new
   end

   local slow = false -- whether the last step was close to an end of the bracket
   while not done and iterations < maxIter do
      t = between(low, high)
      local left, right = math.min(low.t, high.t), math.max(low.t, high.t)
      local width = right - left
      if math.min(right - t, t - left) / width < 0.1 then
         if slow or t >= right or t <= left then
            if math.abs(t - right) < math.abs(t - left) then
               t = right - 0.1 * width
            else
               t = left + 0.1 * width
            end
            slow = false
         else
            slow = true
         end
      else
         slow = false
      end

      new = evaluate(t)
      iterations = iterations + 1
      local lowFirst = not (high.f < low.f)
      local best, worst = lowFirst and low or high, lowFirst and high or low
      if not armijo(new) or new.f >= best.f then
         worst = new
      else
         if flat(new) then
            done = true
         elseif new.gtd * (worst.t - best.t) >= 0 then
            worst = best
         end
         best = new
      end
      low, high = lowFirst and best or worst, lowFirst and worst or best
      if not done and math.abs((low.t - high.t) * new.gtd) < tolX then
         break
      end
   end

   local found = low
   if high and high.f < low.f then
      found = high
   end
   x:copy(start):add(found.t, d)
   return found.f, found.g, x, found.t, evaluations
end
