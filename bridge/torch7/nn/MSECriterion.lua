-- The mean (or sum) of squared differences.
local MSECriterion, parent = torch.class('nn.MSECriterion', 'nn.Criterion')

function MSECriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
end

function MSECriterion:updateOutput(input, target)
   self.output = input:dist(target) ^ 2
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
