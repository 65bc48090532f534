-- The first half of a dimension times the sigmoid of the second: Dauphin, Fan, Auli & Grangier (2016).
local aten = require 'torch.aten'
local kernel = require 'nn.shared.kernel'

local GatedLinearUnit, parent = torch.class('nn.GatedLinearUnit', 'nn.Module')

local forward = aten.op('glu.out', 'TiT')
local backward = aten.op('glu_backward.grad_input', 'TTiT')

function GatedLinearUnit:__init(dim)
   parent.__init(self)
   self.dim = dim
end

-- The dimension, and the size of the output.
local function halved(self, input)
   local dimension = self.dim or input:dim()
   if dimension < 1 or dimension > input:dim() then
      error(string.format('Splitting dimension %d out of range of an input with %d dimensions', dimension,
         input:dim()), 3)
   end
   local size = input:size()
   if size[dimension] % 2 ~= 0 then
      error(string.format('Halving dimension must be even. Dim %d is size %d', dimension, size[dimension]), 3)
   end
   size[dimension] = size[dimension] / 2
   return dimension, size
end

function GatedLinearUnit:updateOutput(input)
   local dimension, size = halved(self, input)
   self.output:resize(size)
   forward(input, dimension - 1, self.output)
   return self.output
end

function GatedLinearUnit:updateGradInput(input, gradOutput)
   local dimension = halved(self, input)
   self.gradInput:resizeAs(input)
   backward(kernel.matching(gradOutput, self.output), input, dimension - 1, self.gradInput)
   return self.gradInput
end
