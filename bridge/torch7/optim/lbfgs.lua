-- Limited-memory BFGS: Newton's direction by the last steps and changes of gradient, with a line search if
-- config.lineSearch is a function (optim.lswolfe), else with steps of the learning rate.

-- `count` vectors like g in one block.
local function vectors(g, count)
   local block, list = g.new(count, g:nElement()), {}
   for i = 1, count do
      list[i] = block[i]
   end
   return list
end

-- Take the newest step and change of gradient into the memory, the oldest out when it is full.
local function remember(state, g, step, size)
   local y, s = table.remove(state.dir_bufs), table.remove(state.stp_bufs)
   y:add(g, -1, state.g_old)
   s:mul(state.d, step)
   local ys = y:dot(s)
   if ys <= 1e-10 or ys ~= ys then -- no curvature: of no use
      table.insert(state.dir_bufs, y)
      table.insert(state.stp_bufs, s)
      return
   end
   if #state.old_dirs == size then
      table.insert(state.stp_bufs, table.remove(state.old_dirs, 1))
      table.insert(state.dir_bufs, table.remove(state.old_stps, 1))
   end
   table.insert(state.old_dirs, s)
   table.insert(state.old_stps, y)
   state.Hdiag = ys / y:dot(y)
end

-- The direction -H g by the two loops over the memory, into state.d.
local function direct(state, g, q)
   local steps, changes, d = state.old_dirs, state.old_stps, state.d
   local ro, al = {}, {}
   q:mul(g, -1)
   for i = #steps, 1, -1 do
      ro[i] = 1 / changes[i]:dot(steps[i])
      al[i] = steps[i]:dot(q) * ro[i]
      q:add(-al[i], changes[i])
   end
   d:mul(q, state.Hdiag)
   for i = 1, #steps do
      d:add(al[i] - changes[i]:dot(d) * ro[i], steps[i])
   end
end

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local maxIter = config.maxIter or 20
   local maxEval = config.maxEval or maxIter * 1.25
   local tolFun, tolX = config.tolFun or 1e-5, config.tolX or 1e-9
   local nCorrection = config.nCorrection or 100
   local lineSearch = type(config.lineSearch) == 'function' and config.lineSearch
   local learningRate = config.learningRate or 1
   local function tell(...)
      if config.verbose then
         print('<optim.lbfgs> ', ...)
      end
   end
   state.funcEval = state.funcEval or 0
   state.nIter = state.nIter or 0

   local f, g = opfunc(x)
   local values, evaluations = {f}, 1
   state.funcEval = state.funcEval + 1
   state.tmp1 = state.tmp1 or g.new():resizeAs(g):zero()
   local scratch = state.tmp1
   if scratch:copy(g):abs():sum() <= tolFun then
      tell('optimality condition below tolFun')
      return x, values
   end
   if not state.dir_bufs then
      tell('creating recyclable direction/step/history buffers')
      state.dir_bufs, state.stp_bufs = vectors(g, nCorrection + 1), vectors(g, nCorrection + 1)
   end

   for iteration = 1, maxIter do
      state.nIter = state.nIter + 1
      if state.nIter == 1 then
         state.d = g:clone():mul(-1)
         state.old_dirs, state.old_stps, state.Hdiag = {}, {}, 1
      else
         remember(state, g, state.t, nCorrection)
         direct(state, g, scratch)
      end
      state.g_old = state.g_old or g.new():resizeAs(g)
      state.g_old:copy(g)
      state.f_old = f

      local gtd = g:dot(state.d)
      if gtd > -tolX then
         break
      end
      state.t = learningRate
      if state.nIter == 1 then
         state.t = math.min(1, 1 / scratch:copy(g):abs():sum()) * learningRate
      end

      local searched = 0
      if lineSearch then
         f, g, x, state.t, searched = lineSearch(opfunc, x, state.t, state.d, f, g, gtd, config.lineSearchOptions)
         values[#values + 1] = f
      else
         x:add(state.t, state.d)
         if iteration ~= maxIter then
            f, g = opfunc(x)
            searched = 1
            values[#values + 1] = f
         end
      end
      evaluations = evaluations + searched
      state.funcEval = state.funcEval + searched

      if iteration == maxIter then
         tell('reached max number of iterations')
         break
      elseif evaluations >= maxEval then
         tell('max nb of function evals')
         break
      elseif scratch:copy(g):abs():sum() <= tolFun then
         tell('optimality condition below tolFun')
         break
      elseif scratch:copy(state.d):mul(state.t):abs():sum() <= tolX then
         tell('step size below tolX')
         break
      elseif math.abs(f - state.f_old) < tolX then
         tell('function value changing less than tolX')
         break
      end
   end
   return x, values, evaluations
end
