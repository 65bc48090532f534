-- The scalar product of a table's two vectors, or of each pair of rows of two matrices.
local rows = require 'nn.shared.rows'

local DotProduct, parent = torch.class('nn.DotProduct', 'nn.Module')

function DotProduct:__init()
   parent.__init(self)
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

function DotProduct:updateOutput(input)
   local a, b = rows(input[1]), rows(input[2])
   self.buffer = self.buffer or a.new()
   self.buffer:resizeAs(a):cmul(a, b)
   self.output:sum(self.buffer, 2)
   return self.output:resize(a:size(1))
end

function DotProduct:updateGradInput(input, gradOutput)
   for i = 1, 2 do
      local other = input[3 - i]
      local slope = other:dim() == 1 and gradOutput or gradOutput:contiguous():view(-1, 1)
      self.gradInput[i] = self.gradInput[i] or other.new()
      self.gradInput[i]:resizeAs(other):cmul(other, slope:expandAs(other))
   end
   return self.gradInput
end

function DotProduct:clearState()
   nn.utils.clear(self, 'buffer')
   return parent.clearState(self)
end
