-- x where it is positive, negval * x elsewhere.
local bend = require 'nn.bend'

local LeakyReLU, parent = torch.class('nn.LeakyReLU', 'nn.Module')

function LeakyReLU:__init(negval, ip)
   parent.__init(self)
   if type(negval) == 'boolean' then
      negval, ip = nil, negval
   end
   self.negval = negval or 1 / 100
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
   if self.inplace and self.negval < 0 then
      error('in-place processing requires a positive slope, got ' .. self.negval)
   end
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
