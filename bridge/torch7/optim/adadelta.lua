-- AdaDelta: steps in the ratio of the mean square steps to the mean square gradients (arXiv 1212.5701).
local penalty = require 'optim.penalty'

return function(opfunc, x, config, state)
   if config == nil and state == nil then
      print('no state table, ADADELTA initializing')
   end
   config = config or {}
   state = state or config
   local rho, eps = config.rho or 0.9, config.eps or 1e-6
   state.evalCounter = state.evalCounter or 0

   local fx, dfdx = opfunc(x)
   penalty.add(dfdx, x, config.weightDecay)

   if not state.paramVariance then
      for _, name in ipairs{'paramVariance', 'paramStd', 'delta', 'accDelta'} do
         state[name] = x.new():resizeAs(dfdx):zero()
      end
   end
   local delta = state.delta
   state.paramVariance:mul(rho):addcmul(1 - rho, dfdx, dfdx)
   state.paramStd:resizeAs(state.paramVariance):copy(state.paramVariance):add(eps):sqrt()
   delta:resizeAs(state.paramVariance):copy(state.accDelta):add(eps):sqrt():cdiv(state.paramStd):cmul(dfdx)
   x:add(-1, delta)
   state.accDelta:mul(rho):addcmul(1 - rho, delta, delta)

   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
