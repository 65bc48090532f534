-- Each element to a power.
local Power, parent = torch.class('nn.Power', 'nn.Module')

function Power:__init(p)
   parent.__init(self)
   self.pow = p
end

function Power:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   return self.output:pow(self.pow)
end

function Power:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(input)
   return self.gradInput:pow(self.pow - 1):cmul(gradOutput):mul(self.pow)
end
