-- Nesterov's accelerated gradient: the gradient is taken where the momentum leads, before it is added.
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local momentum = config.momentum or 0.9
   state.evalCounter = state.evalCounter or 0
   if momentum <= 0 then
      error('Momentum must be positive for Nesterov Accelerated Gradient')
   end

   if state.dfdx then
      x:add(momentum, state.dfdx)
   end
   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay, config.weightDecays, state)

   if state.dfdx then
      state.dfdx:mul(momentum)
   else
      state.dfdx = dfdx.new():resizeAs(dfdx):zero()
   end
   local rate = (config.learningRate or 1e-3) / (1 + state.evalCounter * (config.learningRateDecay or 0))
   local step = penalty.scale(dfdx, config.learningRates, state)
   x:add(-rate, step)
   state.dfdx:add(-rate, step)

   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
