-- The hyperbolic tangent of each element.
local kernel = require 'nn.shared.kernel'

local Tanh = torch.class('nn.Tanh', 'nn.Module')

function Tanh:updateOutput(input)
   return self.output:tanh(input)
end

Tanh.updateGradInput = kernel.fromoutput('tanh_backward')
