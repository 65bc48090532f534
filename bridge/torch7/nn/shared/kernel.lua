-- torch's own kernels for modules, called without the GIL. Buffers get their size here: torch must never resize them.
local aten = require 'torch.aten'
local object = require 'torch.object'
local elements = require 'torch.elements'

local kernel = {}

-- `gradOutput` must have one element for each of `tensor`'s.
function kernel.matching(gradOutput, tensor)
   if gradOutput:nElement() ~= tensor:nElement() then
      error(string.format('Need gradOutput of %d elements, got %d', tensor:nElement(), gradOutput:nElement()), 3)
   end
   return gradOutput:isSameSizeAs(tensor) and gradOutput or gradOutput:contiguous():viewAs(tensor)
end

-- A gradient that follows from the output: gradInput = f(gradOutput, output).
function kernel.fromoutput(name)
   local f = aten.op(name .. '.grad_input', 'TTT')
   return function(self, input, gradOutput)
      self.gradInput:resizeAs(input)
      f(kernel.matching(gradOutput, self.output), self.output, self.gradInput)
      return self.gradInput
   end
end

-- The dimension that holds the classes, from 0: the first of 1 or 3 dimensions, the second of 2 or 4.
local function classes(input)
   local dimensions = input:dim()
   if dimensions < 1 or dimensions > 4 then
      error('1D, 2D, 3D or 4D tensor expected', 3)
   end
   return dimensions % 2 == 0 and 1 or 0
end

-- updateOutput and updateGradInput of softmax or its logarithm.
function kernel.softmax(name)
   local forward = aten.op(name .. '.out', 'TibT')
   local backward = aten.op(name .. '_backward_data.out', 'TTiiT')
   return function(self, input)
      local dimension = classes(input)
      self.output:resizeAs(input)
      forward(input, dimension, false, self.output)
      return self.output
   end, function(self, input, gradOutput)
      local dimension = classes(input)
      self.gradInput:resizeAs(input)
      local dtype = object.dtype(self.output) % elements.DEVICE -- the same number as c10::ScalarType
      backward(kernel.matching(gradOutput, self.output), self.output, dimension, dtype, self.gradInput)
      return self.gradInput
   end
end

return kernel
