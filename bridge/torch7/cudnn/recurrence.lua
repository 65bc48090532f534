-- One layer of a recurrent network in one direction, over a whole sequence (steps x batch x numbers).
local recurrence = {}

-- `p` has W (gates x inputs), R (gates x hidden) and their biases. Writes the states into `output`; the state behind
-- the last step goes into last.h and last.c. Returns what the pass back needs.
function recurrence.forward(cell, p, x, first, output, last, reverse)
   local T, N, H, G = x:size(1), x:size(2), p.R:size(2), p.R:size(1)
   local r = {cell = cell, p = p, x = x, first = first, reverse = reverse, h = output,
      a = x.new(T, N, G), b = x.new(T, N, G), c = first.c and x.new(T, N, H)}
   local flat = r.a:view(T * N, G)
   flat:copy(p.bW:view(1, G):expandAs(flat))
   flat:addmm(x:contiguous():view(T * N, x:size(3)), p.W:t())
   local prev = first
   for step = 1, T do
      local t = reverse and T + 1 - step or step
      local next = {h = x.new(N, H), c = r.c and r.c[t]}
      local b = r.b[t]
      b:copy(p.bR:view(1, G):expandAs(b))
      b:addmm(prev.h, p.R:t())
      cell.forward(r.a[t], b, prev, next)
      output[t]:copy(next.h)
      prev = {h = output[t], c = next.c}
   end
   last.h:copy(prev.h)
   if last.c then
      last.c:copy(prev.c)
   end
   return r
end

-- Gradients of the sequence (added to gradInput), and in `grad` (h, c: those of the last state) of the first state.
function recurrence.backward(r, gradOutput, grad, gradInput)
   local T, N, G = r.x:size(1), r.x:size(2), r.p.R:size(1)
   r.da, r.db = r.x.new(T, N, G), r.x.new(T, N, G)
   for step = T, 1, -1 do
      local t = r.reverse and T + 1 - step or step
      local before = r.reverse and t + 1 or t - 1
      local prev = step == 1 and r.first or {h = r.h[before], c = r.c and r.c[before]}
      grad.h:add(gradOutput[t])
      r.cell.backward(r.a[t], r.b[t], prev, {h = r.h[t], c = r.c and r.c[t]}, grad, r.da[t], r.db[t])
      grad.h:addmm(r.db[t], r.p.R)
   end
   local flat = gradInput.new(T * N, r.x:size(3)):mm(r.da:view(T * N, G), r.p.W)
   gradInput:add(flat:view(T, N, r.x:size(3)))
end

-- Add the gradients of the parameters to those in `g`.
function recurrence.accumulate(r, g, scale)
   local T, N, G = r.x:size(1), r.x:size(2), r.p.R:size(1)
   local da, db = r.da:view(T * N, G), r.db:view(T * N, G)
   g.W:addmm(scale, da:t(), r.x:contiguous():view(T * N, r.x:size(3)))
   g.bW:add(scale, da:sum(1):view(-1))
   g.bR:add(scale, db:sum(1):view(-1))
   for step = 1, T do
      local t = r.reverse and T + 1 - step or step
      local before = r.reverse and t + 1 or t - 1
      g.R:addmm(scale, r.db[t]:t(), step == 1 and r.first.h or r.h[before])
   end
end

return recurrence
