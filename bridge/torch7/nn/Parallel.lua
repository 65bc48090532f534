-- Each module gets its slice of the input; the outputs are joined along a dimension.
local branches = require 'nn.shared.branches'
local join = require 'nn.shared.join'

local Parallel, parent = torch.class('nn.Parallel', 'nn.Container')

function Parallel:__init(inputDimension, outputDimension)
   parent.__init(self)
   self.totalOutputSize = torch.LongStorage()
   self.inputDimension = inputDimension
   self.outputDimension = outputDimension
end

function Parallel:updateOutput(input)
   local count = input:size(self.inputDimension)
   if count > #self.modules then
      error(string.format('%d slices of the input, but %d modules', count, #self.modules))
   end
   local outputs = {}
   for i = 1, count do
      outputs[i] = self:rethrowErrors(self.modules[i], i, 'updateOutput', input:select(self.inputDimension, i))
   end
   self.totalOutputSize = join(self.output, outputs, self.outputDimension)
   return self.output
end

-- Call `method` of each module with its slice and its part of gradOutput, and `use` what that returns.
local function each(self, method, input, gradOutput, use, ...)
   local offset = 1
   for i = 1, input:size(self.inputDimension) do
      local module = self.modules[i]
      local length = module.output:size(self.outputDimension)
      local part = gradOutput:narrow(self.outputDimension, offset, length):contiguous()
      use(i, self:rethrowErrors(module, i, method, input:select(self.inputDimension, i), part, ...))
      offset = offset + length
   end
end

local function nothing()
end

function Parallel:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   each(self, 'updateGradInput', input, gradOutput, function(i, gradInput)
      self.gradInput:select(self.inputDimension, i):copy(gradInput)
   end)
   return self.gradInput
end

function Parallel:accGradParameters(input, gradOutput, scale)
   each(self, 'accGradParameters', input, gradOutput, nothing, scale or 1)
end

function Parallel:accUpdateGradParameters(input, gradOutput, lr)
   each(self, 'accUpdateGradParameters', input, gradOutput, nothing, lr)
end

function Parallel:__tostring__()
   return branches(self, torch.type(self))
end
