-- The square of each element.
local Square = torch.class('nn.Square', 'nn.Module')

function Square:updateOutput(input)
   self.output:resizeAs(input)
   return self.output:cmul(input, input)
end

function Square:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   return self.gradInput:cmul(input, gradOutput):mul(2)
end
