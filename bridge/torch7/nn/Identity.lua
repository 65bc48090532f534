-- The input, as it is.
local letgo = require 'nn.shared.letgo'

local Identity = torch.class('nn.Identity', 'nn.Module')

function Identity:updateOutput(input)
   self.output = input
   return self.output
end

function Identity:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput
   return self.gradInput
end

function Identity:clearState()
   return letgo(self, 'output', 'gradInput')
end
