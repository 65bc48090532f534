-- AdaGrad: each parameter's learning rate falls with the squares of its gradients so far (Duchi et al., 2011).
local penalty = require 'optim.penalty'

local EPSILON = 1e-10

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   state.evalCounter = state.evalCounter or 0

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay)

   if not state.paramVariance then
      state.paramVariance = x.new():resizeAs(dfdx):zero()
      state.paramStd = x.new():resizeAs(dfdx)
   end
   state.paramVariance:addcmul(1, dfdx, dfdx)
   state.paramStd:resizeAs(state.paramVariance):copy(state.paramVariance):sqrt():add(EPSILON)
   local rate = (config.learningRate or 1e-3) / (1 + state.evalCounter * (config.learningRateDecay or 0))
   x:addcdiv(-rate, dfdx, state.paramStd)

   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
