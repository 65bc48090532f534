-- The mean (or sum) of 1 - cos where the target is 1, of max(0, cos - margin) where it is -1; cos is the cosine between
-- two vectors, or between each pair of rows of two matrices.
local cosine = require 'nn.shared.rowcosine'
local rows = require 'nn.shared.rows'

local CosineEmbeddingCriterion, parent = torch.class('nn.CosineEmbeddingCriterion', 'nn.Criterion')

function CosineEmbeddingCriterion:__init(margin)
   parent.__init(self)
   margin = margin or 0
   if not (margin >= -1 and margin <= 1) then
      error(string.format('margin must lie between -1 and 1, got %g', margin))
   end
   self.margin = margin
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self.sizeAverage = true
end

-- A column of targets.
local function column(input, target)
   if type(target) == 'number' then
      return input.new(input:size(1), 1):fill(target)
   end
   return target:contiguous():view(-1, 1)
end

function CosineEmbeddingCriterion:updateOutput(input, target)
   local a, b = rows(input[1]), rows(input[2])
   target = column(a, target)
   local cosines = cosine.forward(a, b).cosines
   local loss = torch.add(cosines, -self.margin):cmax(0)
   loss:cmul(target:eq(-1):typeAs(loss)):addcmul(-1, cosines:add(-1), target:eq(1):typeAs(loss))
   self.output = loss:sum()
   if self.sizeAverage then
      self.output = self.output / a:size(1)
   end
   return self.output
end

function CosineEmbeddingCriterion:updateGradInput(input, target)
   local a, b = rows(input[1]), rows(input[2])
   target = column(a, target)
   local parts = cosine.forward(a, b)
   local slope = target:eq(-1):cmul(parts.cosines:gt(self.margin)):typeAs(a)
   slope:add(-1, target:eq(1):typeAs(a))
   if self.sizeAverage then
      slope:div(a:size(1))
   end
   slope = slope:expandAs(a)
   cosine.gradient(self.gradInput[1], parts, 1, a, b):cmul(slope):resizeAs(input[1])
   cosine.gradient(self.gradInput[2], parts, 2, b, a):cmul(slope):resizeAs(input[2])
   return self.gradInput
end

CosineEmbeddingCriterion.type = nn.L1HingeEmbeddingCriterion.type
