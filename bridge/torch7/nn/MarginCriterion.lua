-- The mean (or sum) of max(0, margin - target x), targets being 1 or -1.
local MarginCriterion, parent = torch.class('nn.MarginCriterion', 'nn.Criterion')

function MarginCriterion:__init(margin)
   parent.__init(self)
   self.sizeAverage = true
   self.margin = margin or 1
end

function MarginCriterion:updateOutput(input, target)
   self.output = torch.cmul(input, target):mul(-1):add(self.margin):cmax(0):sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function MarginCriterion:updateGradInput(input, target)
   local norm = self.sizeAverage and 1 / input:nElement() or 1
   self.gradInput:resizeAs(input):cmul(input, target)
   self.gradInput:lt(self.gradInput, self.margin)
   return self.gradInput:cmul(target):mul(-norm)
end
