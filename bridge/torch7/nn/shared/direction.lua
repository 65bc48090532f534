-- Weights as length times direction, w = g v / |v| by rows: Salimans & Kingma (2016). `lengths` are the |v|, a column,
-- kept from 0 by the caller.
local direction = {}

function direction.weight(weight, v, g, lengths)
   local scale = torch.cdiv(g, lengths)
   return weight:cmul(v, scale:expandAs(v))
end

-- Add the gradients of v and g that follow from one of w.
function direction.accumulate(gradV, gradG, gradWeight, v, g, lengths)
   local along = torch.cmul(gradWeight, v):sum(2):cdiv(lengths)
   gradG:add(along)
   local scale = torch.cdiv(g, lengths)
   gradV:addcmul(1, scale:expandAs(v), gradWeight)
   gradV:addcmul(-1, scale:cmul(along):cdiv(lengths):expandAs(v), v)
end

return direction
