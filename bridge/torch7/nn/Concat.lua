-- Every module gets the input; the outputs are joined along a dimension.
local branches = require 'nn.shared.branches'
local join = require 'nn.shared.join'

local Concat, parent = torch.class('nn.Concat', 'nn.Container')

function Concat:__init(dimension)
   parent.__init(self)
   self.outputSize = torch.LongStorage()
   self.dimension = dimension
end

function Concat:updateOutput(input)
   local outputs = {}
   for i, module in ipairs(self.modules) do
      outputs[i] = self:rethrowErrors(module, i, 'updateOutput', input)
   end
   self.outputSize = join(self.output, outputs, self.dimension)
   return self.output
end

-- Call `method` of each module with its part of gradOutput, and `use` what that returns.
local function each(self, method, input, gradOutput, use, ...)
   local offset = 1
   for i, module in ipairs(self.modules) do
      local length = module.output:size(self.dimension)
      local part = gradOutput:narrow(self.dimension, offset, length):contiguous()
      use(i, self:rethrowErrors(module, i, method, input, part, ...))
      offset = offset + length
   end
end

-- The sum of the modules' gradInputs.
local function collected(self, method, input, gradOutput, ...)
   self.gradInput = nn.utils.recursiveResizeAs(self.gradInput, input)
   each(self, method, input, gradOutput, function(i, gradInput)
      if gradInput and i == 1 then
         self.gradInput = nn.utils.recursiveCopy(self.gradInput, gradInput)
      elseif gradInput then
         self.gradInput = nn.utils.recursiveAdd(self.gradInput, gradInput)
      end
   end, ...)
   return self.gradInput
end

local function nothing()
end

function Concat:updateGradInput(input, gradOutput)
   return collected(self, 'updateGradInput', input, gradOutput)
end

function Concat:backward(input, gradOutput, scale)
   return collected(self, 'backward', input, gradOutput, scale or 1)
end

function Concat:accGradParameters(input, gradOutput, scale)
   each(self, 'accGradParameters', input, gradOutput, nothing, scale or 1)
end

function Concat:accUpdateGradParameters(input, gradOutput, lr)
   each(self, 'accUpdateGradParameters', input, gradOutput, nothing, lr)
end

function Concat:__tostring__()
   return branches(self, torch.type(self))
end
