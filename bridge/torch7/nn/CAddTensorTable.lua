-- The first entry, a tensor, added to each tensor of the second, a table.
local slots = require 'nn.shared.slots'

local CAddTensorTable, parent = torch.class('nn.CAddTensorTable', 'nn.Module')

function CAddTensorTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

function CAddTensorTable:updateOutput(input)
   local term, tensors = input[1], input[2]
   slots(self.output, tensors)
   for i, tensor in ipairs(tensors) do
      self.output[i]:copy(tensor):add(term)
   end
   return self.output
end

function CAddTensorTable:updateGradInput(input, gradOutput)
   self.gradInput[1] = self.gradInput[1] or input[1].new()
   self.gradInput[1]:resizeAs(input[1]):copy(gradOutput[1])
   for i = 2, #input[2] do
      self.gradInput[1]:add(gradOutput[i])
   end
   self.gradInput[2] = self.gradInput[2] or {}
   for i, gradInput in ipairs(slots(self.gradInput[2], input[2])) do
      gradInput:copy(gradOutput[i])
   end
   return self.gradInput
end
