-- The sum of absolute values; there is no target.
local L1Cost, parent = torch.class('nn.L1Cost', 'nn.Criterion')

function L1Cost:__init()
   parent.__init(self)
end

function L1Cost:updateOutput(input)
   self.output = input:norm(1)
   return self.output
end

function L1Cost:updateGradInput(input)
   self.gradInput:resizeAs(input):sign(input)
   return self.gradInput
end
