-- exp(x) of each element.
local Exp = torch.class('nn.Exp', 'nn.Module')

function Exp:updateOutput(input)
   return self.output:exp(input)
end

function Exp:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(self.output)
   return self.gradInput:cmul(self.output, gradOutput)
end
