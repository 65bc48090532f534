-- One entry of a table.
local zeros = require 'nn.shared.zeros'

local SelectTable, parent = torch.class('nn.SelectTable', 'nn.Module')

function SelectTable:__init(index)
   parent.__init(self)
   self.index = index
   self.gradInput = {}
end

local function position(self, input)
   return type(self.index) == 'number' and self.index < 0 and #input + self.index + 1 or self.index
end

function SelectTable:updateOutput(input)
   local index = position(self, input)
   if input[index] == nil then
      error('index does not exist in the input table')
   end
   self.output = input[index]
   return self.output
end

function SelectTable:updateGradInput(input, gradOutput)
   local index = position(self, input)
   self.gradInput = zeros(self.gradInput, input)
   self.gradInput[index] = nn.utils.recursiveCopy(self.gradInput[index], gradOutput)
   return self.gradInput
end

-- The output belongs to the input: it is let go, not emptied.
function SelectTable:clearState()
   self.output = torch.isTensor(self.output) and self.output.new() or {}
   return parent.clearState(self)
end

function SelectTable:__tostring__()
   return torch.type(self) .. '(' .. self.index .. ')'
end
