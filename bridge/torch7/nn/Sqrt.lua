-- The square root of each element; the gradient of a root of 0 counts as 0.
local Sqrt = torch.class('nn.Sqrt', 'nn.Module')

function Sqrt:updateOutput(input)
   return self.output:sqrt(input)
end

function Sqrt:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   self.gradInput:cdiv(gradOutput, self.output):mul(0.5)
   self.gradInput:maskedFill(self.output:eq(0), 0)
   return self.gradInput
end
