-- Adam: steps by the mean gradient over the root of the mean square gradient (arXiv 1412.6980).
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local beta1, beta2 = config.beta1 or 0.9, config.beta2 or 0.999

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay)

   state.t = state.t or 0
   state.m = state.m or x.new():resizeAs(dfdx):zero()
   state.v = state.v or x.new():resizeAs(dfdx):zero()
   state.denom = state.denom or x.new():resizeAs(dfdx):zero()
   local rate = (config.learningRate or 0.001) / (1 + state.t * (config.learningRateDecay or 0))

   state.t = state.t + 1
   state.m:mul(beta1):add(1 - beta1, dfdx)
   state.v:mul(beta2):addcmul(1 - beta2, dfdx, dfdx)
   state.denom:copy(state.v):sqrt():add(config.epsilon or 1e-8)

   -- The means start at zero: divide by what they would be for a gradient of ones.
   local step = rate * math.sqrt(1 - beta2 ^ state.t) / (1 - beta1 ^ state.t)
   x:addcdiv(-step, state.m, state.denom)
   return x, {fx}
end
