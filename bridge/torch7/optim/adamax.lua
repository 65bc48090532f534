-- AdaMax: Adam with the largest gradient so far, slowly forgotten, in the root's place (arXiv 1412.6980).
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   config = config or {}
   state = state or config
   local beta1, beta2 = config.beta1 or 0.9, config.beta2 or 0.999

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay)

   state.t = state.t or 0
   state.m = state.m or x.new():resizeAs(dfdx):zero()
   state.u = state.u or x.new():resizeAs(dfdx):zero()
   state.max = state.max or x.new():resize(2, dfdx:nElement()):zero()

   state.t = state.t + 1
   state.m:mul(beta1):add(1 - beta1, dfdx)
   state.max[1]:copy(state.u):mul(beta2)
   state.max[2]:copy(dfdx):abs():add(config.epsilon or 1e-38)
   state.u:copy((state.max:max(1)))

   local step = (config.learningRate or 0.002) / (1 - beta1 ^ state.t)
   x:addcdiv(-step, state.m, state.u)
   return x, {fx}
end
