-- The natural logarithm of each element.
local Log = torch.class('nn.Log', 'nn.Module')

function Log:updateOutput(input)
   return self.output:log(input)
end

function Log:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   return self.gradInput:cdiv(gradOutput, input)
end
