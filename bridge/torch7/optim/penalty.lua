-- What several algorithms do to a gradient: weight decay in front, single learning rates behind.
local penalty = {}

-- Add to the gradient that of the penalty weightDecay/2 |x|^2, or with `weightDecays` of a weight for each parameter.
function penalty.add(dfdx, x, weightDecay, weightDecays, state)
   if weightDecay and weightDecay ~= 0 then
      dfdx:add(weightDecay, x)
   elseif weightDecays then
      state.decayParameters = state.decayParameters or x.new():resizeAs(dfdx)
      dfdx:add(state.decayParameters:copy(weightDecays):cmul(x))
   end
end

-- The gradient, each element times its own learning rate where there are such.
function penalty.scale(dfdx, learningRates, state)
   if not learningRates then
      return dfdx
   end
   state.deltaParameters = state.deltaParameters or dfdx.new():resizeAs(dfdx)
   return state.deltaParameters:copy(learningRates):cmul(dfdx)
end

return penalty
