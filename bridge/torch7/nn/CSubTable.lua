-- The first tensor of a table minus the second.
local slots = require 'nn.shared.slots'

local CSubTable, parent = torch.class('nn.CSubTable', 'nn.Module')

function CSubTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CSubTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1])
   return self.output:add(-1, input[2])
end

function CSubTable:updateGradInput(input, gradOutput)
   slots(self.gradInput, input)
   self.gradInput[1]:copy(gradOutput)
   self.gradInput[2]:copy(gradOutput):mul(-1)
   return self.gradInput
end
