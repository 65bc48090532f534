-- The largest element along a dimension, which disappears.
local Max, parent = torch.class('nn.Max', 'nn.Module')

Max._extremum = torch.max

function Max:__init(dimension, nInputDims)
   parent.__init(self)
   self.dimension = dimension or 1
   self.nInputDims = nInputDims
end

Max._getPositiveDimension = require 'nn.shared.dimension'

function Max:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   self._output, self._indices = self._extremum(input, dimension)
   if input:dim() > 1 then
      self.output:set(self._output:select(dimension, 1))
   else
      self.output:set(self._output)
   end
   return self.output
end

function Max:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   local gradients = gradOutput:contiguous():view(self._indices:size())
   self.gradInput:resizeAs(input):zero():scatter(dimension, self._indices, gradients)
   return self.gradInput
end

function Max:type(typename, tensorCache)
   self._indices = nil -- made again by the next updateOutput
   return parent.type(self, typename, tensorCache)
end

function Max:clearState()
   nn.utils.clear(self, '_indices', '_output')
   return parent.clearState(self)
end
