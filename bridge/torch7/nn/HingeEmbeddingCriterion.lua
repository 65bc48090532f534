-- The mean (or sum) of x where the target is 1, of max(0, margin - x) where it is -1.
local HingeEmbeddingCriterion, parent = torch.class('nn.HingeEmbeddingCriterion', 'nn.Criterion')

function HingeEmbeddingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.sizeAverage = true
end

local function tensor(input, target)
   return torch.isTensor(target) and target or input.new():resizeAs(input):fill(target)
end

function HingeEmbeddingCriterion:updateOutput(input, target)
   target = tensor(input, target)
   local loss = torch.mul(input, -1):add(self.margin):cmax(0)
   loss:cmul(target:ne(1):typeAs(loss)):addcmul(1, input, target:ne(-1):typeAs(loss))
   self.output = loss:sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function HingeEmbeddingCriterion:updateGradInput(input, target)
   target = tensor(input, target)
   self.gradInput:resizeAs(input):copy(target)
   self.gradInput:maskedFill(target:eq(-1):cmul(input:gt(self.margin)), 0)
   if self.sizeAverage then
      self.gradInput:div(input:nElement())
   end
   return self.gradInput
end
