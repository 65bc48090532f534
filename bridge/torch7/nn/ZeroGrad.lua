-- The input itself; the gradient is 0.
local zeros = require 'nn.shared.zeros'

local ZeroGrad, parent = torch.class('nn.ZeroGrad', 'nn.Module')

function ZeroGrad:updateOutput(input)
   self.output = input
   return self.output
end

function ZeroGrad:updateGradInput(input)
   self.gradInput = zeros(self.gradInput, input)
   return self.gradInput
end

function ZeroGrad:clearState()
   self.output, self.gradInput = nil, nil
   return parent.clearState(self)
end
