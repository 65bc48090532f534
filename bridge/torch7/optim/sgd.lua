-- Stochastic gradient descent with momentum (also Nesterov's form) and weight decay.
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local momentum = config.momentum or 0
   local dampening = config.dampening or momentum
   local nesterov = config.nesterov or false
   state.evalCounter = state.evalCounter or 0
   assert(not nesterov or (momentum > 0 and dampening == 0),
      'Nesterov momentum requires a momentum and zero dampening')

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay, config.weightDecays, state)

   if momentum ~= 0 then
      if state.dfdx then
         state.dfdx:mul(momentum):add(1 - dampening, dfdx)
      else
         state.dfdx = dfdx:clone()
      end
      if nesterov then
         dfdx:add(momentum, state.dfdx)
      else
         dfdx = state.dfdx
      end
   end

   local rate = (config.learningRate or 1e-3) / (1 + state.evalCounter * (config.learningRateDecay or 0))
   x:add(-rate, penalty.scale(dfdx, config.learningRates, state))
   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
