-- The sum of a table's tensors.
local slots = require 'nn.shared.slots'

local CAddTable, parent = torch.class('nn.CAddTable', 'nn.Module')

function CAddTable:__init(ip)
   parent.__init(self)
   self.inplace = ip
   self.gradInput = {}
end

function CAddTable:updateOutput(input)
   if self.inplace then
      self.output:set(input[1])
   else
      self.output:resizeAs(input[1]):copy(input[1])
   end
   for i = 2, #input do
      self.output:add(input[i])
   end
   return self.output
end

function CAddTable:updateGradInput(input, gradOutput)
   if self.inplace then
      for i = 1, #input do
         self.gradInput[i] = (self.gradInput[i] or input[1].new()):set(gradOutput)
      end
      for i = #self.gradInput, #input + 1, -1 do
         self.gradInput[i] = nil
      end
      return self.gradInput
   end
   for _, gradInput in ipairs(slots(self.gradInput, input)) do
      gradInput:copy(gradOutput)
   end
   return self.gradInput
end
