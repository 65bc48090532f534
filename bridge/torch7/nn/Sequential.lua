-- Modules one after the other.
local arguments = require 'torch.arguments'

local Sequential = torch.class('nn.Sequential', 'nn.Container')

-- `#net`; classes derived from this one find the second.
function Sequential:__len()
   return #self.modules
end
Sequential.__len__ = Sequential.__len

local function ends(self)
   local modules = self.modules
   if #modules > 0 then
      self.output, self.gradInput = modules[#modules].output, modules[1].gradInput
   else
      self.output, self.gradInput = torch.Tensor(), torch.Tensor()
   end
end

function Sequential:add(module)
   if #self.modules == 0 then
      self.gradInput = module.gradInput
   end
   table.insert(self.modules, module)
   self.output = module.output
   return self
end

function Sequential:insert(module, index)
   index = index or #self.modules + 1
   if index > #self.modules + 1 or index < 1 then
      error('index should be contiguous to existing modules')
   end
   table.insert(self.modules, index, module)
   ends(self)
end

function Sequential:remove(index)
   index = index or #self.modules
   if index > #self.modules or index < 1 then
      arguments.noted(index, 1, #self.modules, 'index out of range')
      error('index out of range')
   end
   table.remove(self.modules, index)
   ends(self)
end

function Sequential:updateOutput(input)
   for i, module in ipairs(self.modules) do
      input = self:rethrowErrors(module, i, 'updateOutput', input)
   end
   self.output = input
   return input
end

-- Call `method(module, its input, its gradOutput, ...)` from the last module to the first; what each returns is the
-- next one's gradOutput.
local function backwards(self, method, input, gradOutput, ...)
   local modules = self.modules
   for i = #modules, 1, -1 do
      gradOutput = self:rethrowErrors(modules[i], i, method, i > 1 and modules[i - 1].output or input, gradOutput, ...)
      modules[i].gradInput = gradOutput
   end
   return gradOutput
end

function Sequential:updateGradInput(input, gradOutput)
   self.gradInput = backwards(self, 'updateGradInput', input, gradOutput)
   return self.gradInput
end

function Sequential:backward(input, gradOutput, scale)
   self.gradInput = backwards(self, 'backward', input, gradOutput, scale or 1)
   return self.gradInput
end

-- The same for methods that return nothing: gradOutputs are those of the last updateGradInput.
local function accumulate(self, method, input, gradOutput, ...)
   local modules = self.modules
   for i = #modules, 1, -1 do
      self:rethrowErrors(modules[i], i, method, i > 1 and modules[i - 1].output or input, gradOutput, ...)
      gradOutput = modules[i].gradInput
   end
end

function Sequential:accGradParameters(input, gradOutput, scale)
   accumulate(self, 'accGradParameters', input, gradOutput, scale or 1)
end

function Sequential:accUpdateGradParameters(input, gradOutput, lr)
   accumulate(self, 'accUpdateGradParameters', input, gradOutput, lr)
end

function Sequential:__tostring__()
   local chain, lines = {'input'}, {}
   for i, module in ipairs(self.modules) do
      chain[#chain + 1] = '(' .. i .. ')'
      lines[i] = string.format('\n  (%d): %s', i, (tostring(module):gsub('\n', '\n  ')))
   end
   chain[#chain + 1] = 'output'
   return 'nn.Sequential {\n  [' .. table.concat(chain, ' -> ') .. ']' .. table.concat(lines) .. '\n}'
end
