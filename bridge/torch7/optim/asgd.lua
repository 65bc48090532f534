-- Averaged stochastic gradient descent; the third result is the average of all x since step t0.
--
--    x = (1 - lambda eta_t) x - eta_t df/dx,   ax = ax + mu_t (x - ax)
return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   config.eta0 = config.eta0 or 1e-4
   config.lambda = config.lambda or 1e-4
   config.alpha = config.alpha or 0.75
   config.t0 = config.t0 or 1e6
   state.eta_t = state.eta_t or config.eta0
   state.mu_t = state.mu_t or 1
   state.t = state.t or 0

   local fx, dfdx = opfunc(x)
   x:mul(1 - config.lambda * state.eta_t):add(-state.eta_t, dfdx)

   state.ax = state.ax or x.new():resizeAs(x):zero()
   state.tmp = state.tmp or x.new():resizeAs(state.ax):zero()
   if state.mu_t == 1 then
      state.ax:copy(x)
   else
      state.ax:add(state.tmp:copy(x):add(-1, state.ax):mul(state.mu_t))
   end

   state.t = state.t + 1
   state.eta_t = config.eta0 / (1 + config.lambda * config.eta0 * state.t) ^ config.alpha
   state.mu_t = 1 / math.max(1, state.t - config.t0)
   return x, {fx}, state.ax
end
