-- x / (1 + |x|) of each element.
local bend = require 'nn.shared.bend'

local SoftSign = torch.class('nn.SoftSign', 'nn.Module')

function SoftSign:updateOutput(input)
   return bend.softsign(self.output:resizeAs(input), input)
end

function SoftSign:updateGradInput(input, gradOutput)
   return bend.softsignback(self.gradInput:resizeAs(input), input, gradOutput)
end
