-- The product, element by element, of a table's tensors.
local slots = require 'nn.shared.slots'

local CMulTable, parent = torch.class('nn.CMulTable', 'nn.Module')

function CMulTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CMulTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1])
   for i = 2, #input do
      self.output:cmul(input[i])
   end
   return self.output
end

function CMulTable:updateGradInput(input, gradOutput)
   for i, gradInput in ipairs(slots(self.gradInput, input)) do
      gradInput:copy(gradOutput)
      for j = 1, #input do
         if j ~= i then
            gradInput:cmul(input[j])
         end
      end
   end
   return self.gradInput
end
