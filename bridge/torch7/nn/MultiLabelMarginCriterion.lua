-- The mean (or sum) over rows of sum_tj max(0, 1 - x[t] + x[j]) / classes: t runs over the row's targets, which end at
-- the first 0, j over all other classes.
local rows = require 'nn.shared.rows'
local shape = require 'nn.shared.shape'

local MultiLabelMarginCriterion, parent = torch.class('nn.MultiLabelMarginCriterion', 'nn.Criterion')

function MultiLabelMarginCriterion:__init()
   parent.__init(self)
   self.sizeAverage = true
   self.isTarget = torch.Tensor()
end

-- The list of a row's targets, which are marked in `mark`.
local function listed(target, row, mark)
   local list = {}
   for j = 1, target:size(2) do
      local class = target[row][j]
      if class == 0 then
         break
      elseif class < 1 or class > target:size(2) then
         error(string.format('target out of range: classes from 0 to %d expected, got %g', target:size(2), class), 4)
      end
      list[#list + 1] = class
      mark[row][class] = 1
   end
   return list
end

-- Call f(row, target, violations), which are max(0, 1 - x[t] + x[j]) for all others j and 0 at the targets.
local function each(self, matrix, target, f)
   target = rows(target)
   if not shape.same(target, matrix) then
      error('inconsistent target size', 3)
   end
   self.isTarget:resizeAs(matrix):zero()
   for row = 1, matrix:size(1) do
      local list = listed(target, row, self.isTarget)
      local others = torch.mul(self.isTarget[row], -1):add(1)
      for _, class in ipairs(list) do
         local x = matrix[row]
         f(row, class, torch.add(x, 1 - x[class]):cmax(0):cmul(others))
      end
   end
end

function MultiLabelMarginCriterion:updateOutput(input, target)
   local matrix = rows(input)
   local sum = 0
   each(self, matrix, target, function(_, _, z)
      sum = sum + z:sum()
   end)
   self.output = sum / matrix:size(2) / (self.sizeAverage and matrix:size(1) or 1)
   return self.output
end

function MultiLabelMarginCriterion:updateGradInput(input, target)
   local matrix = rows(input)
   self.gradInput:resizeAs(matrix):zero()
   local norm = 1 / matrix:size(2) / (self.sizeAverage and matrix:size(1) or 1)
   each(self, matrix, target, function(row, class, z)
      local gradient = self.gradInput[row]
      gradient:add(norm, z:sign())
      gradient[class] = gradient[class] - norm * z:sum()
   end)
   return self.gradInput:resizeAs(input)
end
