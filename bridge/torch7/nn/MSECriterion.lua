-- The mean (or sum) of squared differences.
local kernels = require 'torch.kernels'

local MSECriterion, parent = torch.class('nn.MSECriterion', 'nn.Criterion')

function MSECriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
end

function MSECriterion:updateOutput(input, target)
   if not torch.isTensor(input) or torch.type(input) ~= torch.type(target) then
      error(string.format('nn.MSECriterion: expected input and target to be tensors of one type, got %s and %s',
         torch.type(input), torch.type(target)))
   end
   self.output = kernels.distance(input, target, 2) -- without the root of dist(), whose rounding a square brings back
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function MSECriterion:updateGradInput(input, target)
   local norm = self.sizeAverage and 2 / input:nElement() or 2
   self.gradInput:resizeAs(input):copy(input)
   return self.gradInput:add(-1, target):mul(norm)
end
