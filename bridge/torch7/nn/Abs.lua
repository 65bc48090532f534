-- The absolute value of each element; the slope at 0 is 1.
local bend = require 'nn.shared.bend'

local Abs = torch.class('nn.Abs', 'nn.Module')

function Abs:updateOutput(input)
   return self.output:resizeAs(input):abs(input)
end

function Abs:updateGradInput(input, gradOutput)
   return bend.mirrored(bend.gradInput(self, input, gradOutput), input, gradOutput)
end
