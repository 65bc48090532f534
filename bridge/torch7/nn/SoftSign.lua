-- x / (1 + |x|) of each element.
local SoftSign = torch.class('nn.SoftSign', 'nn.Module')

local function denominator(input)
   return torch.abs(input):add(1)
end

function SoftSign:updateOutput(input)
   self.output:resizeAs(input)
   return self.output:cdiv(input, denominator(input))
end

function SoftSign:updateGradInput(input, gradOutput)
   local d = denominator(input)
   self.gradInput:resizeAs(input)
   return self.gradInput:cdiv(gradOutput, d:cmul(d:clone()))
end
