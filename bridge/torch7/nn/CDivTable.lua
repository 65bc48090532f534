-- The first tensor of a table divided by the second.
local slots = require 'nn.shared.slots'

local CDivTable, parent = torch.class('nn.CDivTable', 'nn.Module')

function CDivTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CDivTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1])
   return self.output:cdiv(input[2])
end

function CDivTable:updateGradInput(input, gradOutput)
   slots(self.gradInput, input)
   self.gradInput[1]:copy(gradOutput):cdiv(input[2])
   self.gradInput[2]:zero():addcdiv(-1, self.gradInput[1], input[2]):cmul(input[1])
   return self.gradInput
end
