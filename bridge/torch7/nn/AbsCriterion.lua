-- The mean (or sum) of absolute differences.
local AbsCriterion, parent = torch.class('nn.AbsCriterion', 'nn.Criterion')

function AbsCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
end

function AbsCriterion:updateOutput(input, target)
   self.output = input:dist(target, 1)
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function AbsCriterion:updateGradInput(input, target)
   local norm = self.sizeAverage and 1 / input:nElement() or 1
   self.gradInput:resizeAs(input):copy(input):add(-1, target)
   self.gradInput:maskedFill(self.gradInput:ge(0), 1)
   self.gradInput:maskedFill(self.gradInput:lt(0), -1)
   return self.gradInput:mul(norm)
end
