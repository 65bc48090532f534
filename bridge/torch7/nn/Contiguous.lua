-- The input without gaps: itself where it has none.
local letgo = require 'nn.shared.letgo'

local Contiguous = torch.class('nn.Contiguous', 'nn.Module')

function Contiguous:updateOutput(input)
   self.output = input:contiguous()
   return self.output
end

function Contiguous:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput:contiguous()
   return self.gradInput
end

function Contiguous:clearState()
   return letgo(self, 'output', 'gradInput')
end
