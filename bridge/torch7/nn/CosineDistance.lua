-- The cosine between a table's two vectors, or between each pair of rows of two matrices.
local cosine = require 'nn.shared.rowcosine'
local rows = require 'nn.shared.rows'

local CosineDistance, parent = torch.class('nn.CosineDistance', 'nn.Module')

function CosineDistance:__init()
   parent.__init(self)
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

function CosineDistance:updateOutput(input)
   local parts = cosine.forward(rows(input[1]), rows(input[2]))
   self.output:resizeAs(parts.cosines):copy(parts.cosines)
   return self.output:resize(self.output:size(1))
end

function CosineDistance:updateGradInput(input, gradOutput)
   local a, b = rows(input[1]), rows(input[2])
   local parts = cosine.forward(a, b)
   local slope = gradOutput:contiguous():view(-1, 1):expandAs(a)
   cosine.gradient(self.gradInput[1], parts, 1, a, b):cmul(slope):resizeAs(input[1])
   cosine.gradient(self.gradInput[2], parts, 2, b, a):cmul(slope):resizeAs(input[2])
   return self.gradInput
end

function CosineDistance:clearState()
   nn.utils.clear(self, 'buffer', 'w1', 'w22', 'w', 'w32', 'ones')
   self.gradInput[1]:set()
   self.gradInput[2]:set()
   self.output:set()
   return self
end
