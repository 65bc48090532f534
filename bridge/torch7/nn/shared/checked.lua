-- What criterions ask of their arguments.
local checked = {}

-- Weights of classes: one number each.
function checked.weights(weights)
   if weights ~= nil and weights:dim() ~= 1 then
      error('weights input should be 1-D Tensor', 3)
   end
   return weights
end

function checked.sizes(input, target)
   if input:nElement() ~= target:nElement() then
      error('input and target size mismatch', 3)
   end
end

return checked
