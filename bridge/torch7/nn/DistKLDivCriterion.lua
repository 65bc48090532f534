-- Kullback and Leibler's divergence: the mean (or sum) of target (log(target) - x), x being log-probabilities.
local checked = require 'nn.shared.checked'

local DistKLDivCriterion, parent = torch.class('nn.DistKLDivCriterion', 'nn.Criterion')

function DistKLDivCriterion:__init()
   parent.__init(self)
   self.sizeAverage = true
end

function DistKLDivCriterion:updateOutput(input, target)
   checked.sizes(input, target)
   local terms = torch.log(target):add(-1, input):cmul(target)
   terms:maskedFill(target:gt(0):eq(0), 0)
   self.output = terms:sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function DistKLDivCriterion:updateGradInput(input, target)
   checked.sizes(input, target)
   local norm = self.sizeAverage and 1 / input:nElement() or 1
   self.gradInput:resizeAs(input):copy(target):cmax(0):mul(-norm)
   return self.gradInput
end
