-- The mean (or sum) of log(1 + exp(-target x)), targets being 1 or -1.
local SoftMarginCriterion, parent = torch.class('nn.SoftMarginCriterion', 'nn.Criterion')

function SoftMarginCriterion:__init()
   parent.__init(self)
   self.sizeAverage = true
end

function SoftMarginCriterion:updateOutput(input, target)
   self.output = torch.cmul(input, target):mul(-1):exp():log1p():sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function SoftMarginCriterion:updateGradInput(input, target)
   local norm = self.sizeAverage and 1 / input:nElement() or 1
   self.gradInput:resizeAs(input):cmul(input, target):mul(-1)
   return self.gradInput:sigmoid():cmul(target):mul(-norm)
end
