-- What modules demand of the sizes of tensors, and what they say otherwise, in the words of the original's library.
local shape = require 'nn.shared.shape'

local demand = {}

-- The tensors must have the same sizes.
function demand.shape(name, t, other, u)
   if not shape.same(t, u) then
      error(string.format('%s and %s shapes do not match: %s %s, %s %s', name, other, name, shape.text(t), other,
         shape.text(u)), 0)
   end
end

-- The tensors must have the same number of elements.
function demand.elements(name, t, other, u)
   local n, m = t:nElement(), u:nElement()
   if n ~= m then
      local text = '%s and %s have different number of elements: %s%s has %d elements, while %s%s has %d elements'
      error(string.format(text, name, other, name, shape.text(t), n, other, shape.text(u), m), 0)
   end
end

-- An argument of the original's library is refused: the n-th, for what `text` says, with the tensor's sizes as its %s.
function demand.refuse(n, text, t)
   error(string.format("bad argument #%d to 'v' (%s)", n, t and text:format(shape.text(t)) or text), 0)
end

return demand
