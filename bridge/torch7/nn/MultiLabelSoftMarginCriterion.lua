-- The mean (or sum) of the binary cross entropy between targets (0 or 1) and the sigmoid of the input, weighted.
local checked = require 'nn.shared.checked'

local MultiLabelSoftMarginCriterion, parent = torch.class('nn.MultiLabelSoftMarginCriterion', 'nn.Criterion')

function MultiLabelSoftMarginCriterion:__init(weights)
   parent.__init(self)
   self.lsm = nn.Sigmoid()
   self.sizeAverage = true
   self.weights = checked.weights(weights)
end

-- Multiply by the weights, which are the same for each row.
local function weigh(self, tensor)
   if self.weights then
      tensor:cmul(tensor:dim() == 1 and self.weights or self.weights:view(1, -1):expandAs(tensor))
   end
   return tensor
end

-- max(x, 0) - x target + log(1 + exp(-|x|)), which overflows for no x.
function MultiLabelSoftMarginCriterion:updateOutput(input, target)
   checked.sizes(input, target)
   local loss = torch.abs(input):mul(-1):exp():log1p():add(torch.cmax(input, 0))
   loss:addcmul(-1, input, target)
   self.output = weigh(self, loss):sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function MultiLabelSoftMarginCriterion:updateGradInput(input, target)
   checked.sizes(input, target)
   self.gradInput:resizeAs(input):sigmoid(input):add(-1, target)
   weigh(self, self.gradInput)
   if self.sizeAverage then
      self.gradInput:div(input:nElement())
   end
   return self.gradInput
end
