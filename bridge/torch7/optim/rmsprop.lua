-- RMSprop: the gradient over the root of its leaky mean square.
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local alpha = config.alpha or 0.99

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay)

   if not state.m then
      state.m = x.new():resizeAs(dfdx):fill(config.initialMean or 0)
      state.tmp = x.new():resizeAs(dfdx)
   end
   state.m:mul(alpha):addcmul(1 - alpha, dfdx, dfdx)
   state.tmp:sqrt(state.m):add(config.epsilon or 1e-8)
   x:addcdiv(-(config.learningRate or 1e-2), dfdx, state.tmp)
   return x, {fx}
end
