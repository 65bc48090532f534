-- What operators that work element by element do: a result as large as the first operand, filled by a kernel.
local object = require 'torch.object'
local geometry = require 'torch.geometry'

local tensor, resizeas = object.tensor, geometry.resizeas

-- r = op(t, a, b), where `kernel` (of torch.kernels) takes op and these; it sees nil for those that op has not.
return function(kernel, op)
   return function(r, t, a, b)
      resizeas(tensor(r), tensor(t))
      kernel(op, r, t, a, b)
      return r
   end
end
