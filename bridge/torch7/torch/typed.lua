-- torch.XTensor.torch: the functions of torch that one element type has; what they make is of that type.
local elements = require 'torch.elements'
local object = require 'torch.object'
local forms = require 'torch.forms'

return function(torch, alone)
   for id = 0, elements.count - 1 do
      local metatable = object.metatables[id]
      local functions = {}
      for name, f in pairs(torch) do
         if type(f) == 'function' and (metatable[name] or alone[id][name]) then
            functions[name] = forms.typed(f, id) or f
         end
      end
      if id ~= elements.Half.id then
         metatable.torch = functions
      end
   end
end
