-- Every module gets the input; the outputs are a table.
local branches = require 'nn.shared.branches'

local ConcatTable, parent = torch.class('nn.ConcatTable', 'nn.Container')

function ConcatTable:__init()
   parent.__init(self)
   self.modules = {}
   self.output = {}
end

function ConcatTable:updateOutput(input)
   for i, module in ipairs(self.modules) do
      self.output[i] = self:rethrowErrors(module, i, 'updateOutput', input)
   end
   return self.output
end

-- The sum of the modules' gradInputs.
local function collected(self, method, input, gradOutput, ...)
   if type(input) == 'table' and type(self.gradInput) ~= 'table' then
      self.gradInput = {}
   end
   for i, module in ipairs(self.modules) do
      local gradInput = self:rethrowErrors(module, i, method, input, gradOutput[i], ...)
      if i == 1 then
         self.gradInput = nn.utils.recursiveResizeAs(self.gradInput, input)
         self.gradInput = nn.utils.recursiveCopy(self.gradInput, gradInput)
      else
         self.gradInput = nn.utils.recursiveAdd(self.gradInput, gradInput)
      end
   end
   return self.gradInput
end

function ConcatTable:updateGradInput(input, gradOutput)
   return collected(self, 'updateGradInput', input, gradOutput)
end

function ConcatTable:backward(input, gradOutput, scale)
   return collected(self, 'backward', input, gradOutput, scale or 1)
end

function ConcatTable:accGradParameters(input, gradOutput, scale)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accGradParameters', input, gradOutput[i], scale or 1)
   end
end

function ConcatTable:accUpdateGradParameters(input, gradOutput, lr)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accUpdateGradParameters', input, gradOutput[i], lr)
   end
end

function ConcatTable:__tostring__()
   return branches(self, torch.type(self))
end
