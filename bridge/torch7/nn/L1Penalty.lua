-- The input itself; a penalty on its absolute values goes into the gradient.
local L1Penalty, parent = torch.class('nn.L1Penalty', 'nn.Module')

function L1Penalty:__init(l1weight, sizeAverage, provideOutput)
   parent.__init(self)
   self.l1weight = l1weight
   self.sizeAverage = sizeAverage or false
   self.provideOutput = provideOutput == nil or provideOutput
end

local function factor(self, input)
   return self.sizeAverage and self.l1weight / input:nElement() or self.l1weight
end

function L1Penalty:updateOutput(input)
   self.loss = factor(self, input) * input:norm(1)
   self.output = input
   return self.output
end

function L1Penalty:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):sign(input):mul(factor(self, input))
   if self.provideOutput then
      self.gradInput:add(gradOutput)
   end
   return self.gradInput
end
