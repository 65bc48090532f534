-- The sum (or mean) over a dimension, which disappears unless `squeeze` is false.
local positive = require 'nn.shared.dimension'

local Sum, parent = torch.class('nn.Sum', 'nn.Module')

function Sum:__init(dimension, nInputDims, sizeAverage, squeeze)
   parent.__init(self)
   self.dimension = dimension or 1
   self.nInputDims = nInputDims
   self.sizeAverage = sizeAverage or false
   if squeeze ~= nil then
      if type(squeeze) ~= 'boolean' then
         error('squeeze has to be true/false')
      end
      self.squeeze = squeeze
   else
      self.squeeze = true
   end
end

function Sum:_getPositiveDimension(input)
   local dimension = positive(self, input)
   if input:dim() < dimension then
      error('dimension exceeds input dimensions')
   end
   return dimension
end

function Sum:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   self.output = torch.isTensor(self.output) and self.output or input.new()
   self.output:sum(input, dimension)
   if self.sizeAverage then
      self.output:div(input:size(dimension))
   end
   if self.squeeze and self.output:dim() > 1 then
      self.output:set(self.output:select(dimension, 1))
   end
   return self.output
end

function Sum:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   local size = input:size()
   size[dimension] = 1
   self.gradInput:resizeAs(input):copy(gradOutput:contiguous():view(size):expandAs(input))
   if self.sizeAverage then
      self.gradInput:div(input:size(dimension))
   end
   return self.gradInput
end
