-- One entry of a table.
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

-- Buffers like `input`, all zero.
local function zeros(buffer, input)
   if type(input) ~= 'table' then
      buffer = torch.isTensor(buffer) and buffer or input.new()
      return buffer:resizeAs(input):zero()
   end
   buffer = type(buffer) == 'table' and buffer or {}
   for key, value in pairs(input) do
      buffer[key] = zeros(buffer[key], value)
   end
   for key in pairs(buffer) do
      if input[key] == nil then
         buffer[key] = nil
      end
   end
   return buffer
end

function SelectTable:updateGradInput(input, gradOutput)
   local index = position(self, input)
   self.gradInput = zeros(self.gradInput, input)
   self.gradInput[index] = nn.utils.recursiveCopy(self.gradInput[index], gradOutput)
   return self.gradInput
end

function SelectTable:__tostring__()
   return torch.type(self) .. '(' .. self.index .. ')'
end
