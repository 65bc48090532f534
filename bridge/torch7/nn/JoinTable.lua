-- A table's tensors one after the other along a dimension.
local join = require 'nn.shared.join'
local positive = require 'nn.shared.dimension'
local slots = require 'nn.shared.slots'

local JoinTable, parent = torch.class('nn.JoinTable', 'nn.Module')

function JoinTable:__init(dimension, nInputDims)
   parent.__init(self)
   self.size = torch.LongStorage()
   self.dimension = dimension
   self.gradInput = {}
   self.nInputDims = nInputDims
end

function JoinTable:_getPositiveDimension(input)
   return positive(self, input[1])
end

function JoinTable:updateOutput(input)
   self.size = join(self.output, input, self:_getPositiveDimension(input))
   return self.output
end

function JoinTable:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   local offset = 1
   for i, gradInput in ipairs(slots(self.gradInput, input)) do
      local length = input[i]:size(dimension)
      gradInput:copy(gradOutput:narrow(dimension, offset, length))
      offset = offset + length
   end
   return self.gradInput
end
