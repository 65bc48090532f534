-- The absolute value of each element.
local Abs = torch.class('nn.Abs', 'nn.Module')

function Abs:updateOutput(input)
   return self.output:resizeAs(input):abs(input)
end

function Abs:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):sign(input)
   return self.gradInput:cmul(gradOutput)
end
