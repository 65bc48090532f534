-- x where it is positive, negval * x elsewhere.
local bend = require 'nn.shared.bend'

local LeakyReLU, parent = torch.class('nn.LeakyReLU', 'nn.Module')

function LeakyReLU:__init(negval, ip)
   parent.__init(self)
   self.negval = type(negval) == 'number' and negval or 1 / 100
   -- a flag as the first argument is ignored, in place with a negative slope there is no way back
   self.inplace = self.negval >= 0 and (ip or false)
end

function LeakyReLU:updateOutput(input)
   return bend.above(bend.output(self, input), input, input, 0, self.negval)
end

-- In place, the input is gone, but its output lies on the same side of zero.
function LeakyReLU:updateGradInput(input, gradOutput)
   return bend.above(bend.gradInput(self, input, gradOutput), input, gradOutput, 0, self.negval)
end

function LeakyReLU:__tostring__()
   return torch.type(self) .. string.format('(%g)', self.negval)
end
