-- The slices of a tensor along a dimension, as a table.
local SplitTable, parent = torch.class('nn.SplitTable', 'nn.Module')

function SplitTable:__init(dimension, nInputDims)
   parent.__init(self)
   self.dimension = dimension
   self.nInputDims = nInputDims
end

SplitTable._getPositiveDimension = require 'nn.shared.dimension'

function SplitTable:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   self.output = {}
   for i = 1, input:size(dimension) do
      self.output[i] = input:select(dimension, i)
   end
   return self.output
end

function SplitTable:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   if self.gradInput then
      self.gradInput:resizeAs(input)
      for i = 1, input:size(dimension) do
         self.gradInput:select(dimension, i):copy(gradOutput[i])
      end
   end
   return self.gradInput
end
