-- FISTA with a backtracking line search: the minimum of f + g, f smooth, g not (Beck and Teboulle, 2009).
--
-- f(x, 'dx') gives f and df/dx, f(x) f alone; g(x) gives g; pl(x, L) changes x to the minimum of
-- g(.) + L/2 |. - x|^2. Returns the solution and what happened at each iteration; `params` keeps L and the buffers.
return function(f, g, pl, xinit, params)
   params = params or {}
   local L, Lstep = params.L or 0.1, params.Lstep or 1.5
   local maxiter, maxline = params.maxiter or 50, params.maxline or 20
   local errthres = params.errthres or 1e-4
   local accelerate = params.doFistaUpdate ~= false
   local verbose = params.verbose or false

   local xk = xinit
   for _, name in ipairs{'xkm', 'y', 'ply'} do
      params[name] = params[name] or xk.new()
      params[name]:resizeAs(xk):zero()
   end
   local xkm, y, ply = params.xkm, params.y, params.ply

   local history, tk = {}, 1
   for iteration = 1, maxiter do
      local fy, gradient = f(y, 'dx')
      local nline, found = 0, false
      local Q
      repeat
         ply:copy(y):add(-1 / L, gradient)
         pl(ply, L)
         xk:copy(ply)
         local fply = f(ply)
         ply:add(-1, y)
         local Q2, Q3 = gradient:dot(ply), L / 2 * ply:dot(ply)
         Q = fy + Q2 + Q3
         if verbose then
            print(string.format('nline=%d L=%g fply=%g Q=%g fy=%g Q2=%g Q3=%g', nline, L, fply, Q, fy, Q2, Q3))
         end
         if fply <= Q then
            found = true
         elseif nline >= maxline then -- nothing better: stay
            found = true
            xk:copy(xkm)
         else
            L = L * Lstep
         end
         nline = nline + 1
      until found

      if accelerate then
         local tkp1 = (1 + math.sqrt(1 + 4 * tk * tk)) / 2
         xkm:add(-1, xk)
         y:copy(xk):add((1 - tk) / tkp1, xkm)
         tk = tkp1
         xkm:copy(xk)
      else
         y:copy(xk)
      end

      local fply, gply = f(y), g(y)
      if verbose then
         print(string.format('iter=%d eold=%g enew=%g', iteration, history[iteration - 1]
            and history[iteration - 1].F or math.huge, fply + gply))
      end
      params.L = L
      history[iteration] = {nline = nline, L = L, F = fply + gply, Fply = fply, Gply = gply, Q = Q}
      if verbose then
         history[iteration].xk, history[iteration].y = xk:clone(), y:clone()
      end
      if iteration > 1 and math.abs(history[iteration].F - history[iteration - 1].F) <= errthres then
         break
      end
   end
   xinit:copy(y)
   return y, history
end
