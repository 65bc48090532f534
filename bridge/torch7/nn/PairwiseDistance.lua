-- The distance (by the p-norm) between a table's two vectors, or between each pair of rows of two matrices.
local rows = require 'nn.shared.rows'

local PairwiseDistance, parent = torch.class('nn.PairwiseDistance', 'nn.Module')

local EPSILON = 1e-6 -- keeps the gradient of a distance of 0 finite

function PairwiseDistance:__init(p)
   parent.__init(self)
   if type(p) ~= 'number' or p % 1 ~= 0 then
      error('an integer norm expected, got ' .. tostring(p))
   end
   self.gradInput = {}
   self.diff = torch.Tensor()
   self.norm = p
end

function PairwiseDistance:updateOutput(input)
   local a, b = rows(input[1]), rows(input[2])
   self.diff = self.diff or a.new()
   self.diff:resizeAs(a):copy(a):add(-1, b)
   self.output:norm(self.diff, self.norm, 2)
   return self.output:resize(a:size(1))
end

function PairwiseDistance:updateGradInput(input, gradOutput)
   local a, b = rows(input[1]), rows(input[2])
   local first = (self.gradInput[1] or a.new()):resizeAs(a)
   local second = (self.gradInput[2] or a.new()):resizeAs(a)
   first:copy(a):add(-1, b)
   if self.norm == 1 then
      first:sign()
   else
      if self.norm > 2 then
         first:cmul(torch.abs(first):pow(self.norm - 2))
      end
      local shrink = torch.add(self.output, EPSILON):pow(1 - self.norm)
      first:cmul(shrink:view(-1, 1):expandAs(first))
   end
   first:cmul(gradOutput:contiguous():view(-1, 1):expandAs(first))
   second:mul(first, -1)
   self.gradInput[1], self.gradInput[2] = first:resizeAs(input[1]), second:resizeAs(input[2])
   return self.gradInput
end

function PairwiseDistance:clearState()
   nn.utils.clear(self, 'diff', 'outExpand', 'grad', 'ones')
   return parent.clearState(self)
end
