-- Compares a function's gradient with differences: returns |dC - estimate| / |dC + estimate|, dC and the estimate.
return function(opfunc, x, eps)
   eps = eps or 1e-7
   -- opfunc may give the same tensor each time: keep this one.
   local _, dC = opfunc(x)
   dC = dC:clone():resize(x:size())

   local estimate = dC.new():resizeAs(dC)
   local point, estimates = x.new():set(x), estimate:view(-1)
   point = point:isContiguous() and point:view(-1)
   assert(point, 'optim.checkgrad: expected a contiguous x')
   for i = 1, point:size(1) do
      local value = point[i]
      point[i] = value + eps
      local above = opfunc(x)
      point[i] = value - eps
      local below = opfunc(x)
      point[i] = value
      estimates[i] = (above - below) / (2 * eps)
   end
   return torch.norm(dC - estimate) / torch.norm(dC + estimate), dC, estimate
end
