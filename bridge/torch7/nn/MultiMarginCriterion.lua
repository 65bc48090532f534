-- The mean (or sum) over rows of sum_j weights[t] max(0, margin - x[t] + x[j])^p / classes, t being the row's target.
local checked = require 'nn.shared.checked'
local classes = require 'nn.shared.classes'
local rows = require 'nn.shared.rows'

local MultiMarginCriterion, parent = torch.class('nn.MultiMarginCriterion', 'nn.Criterion')

function MultiMarginCriterion:__init(p, weights, margin)
   if p and p ~= 1 and p ~= 2 then
      error('only p == 1 and p == 2 supported, got ' .. tostring(p))
   end
   self.p = p or 1
   self.margin = margin or 1.0
   parent.__init(self)
   self.sizeAverage = true
   self.weights = checked.weights(weights)
end

-- max(0, margin - x[t] + x[j]) in each place, 0 at the targets; and the targets as a column.
local function violations(self, matrix, target)
   local column = classes(self.target, target, matrix:size(1), matrix:size(2)):view(-1, 1)
   local hits = matrix:gather(2, column)
   local z = torch.add(matrix, -1, hits:expandAs(matrix)):add(self.margin):cmax(0)
   return z:scatter(2, column, 0), column
end

-- Each row's weight as wide as the matrix.
local function spread(self, column, matrix)
   return self.weights:index(1, column:view(-1)):view(-1, 1):expandAs(matrix)
end

function MultiMarginCriterion:updateOutput(input, target)
   local matrix = rows(input)
   local z, column = violations(self, matrix, target)
   if self.p == 2 then
      z:cmul(z)
   end
   if self.weights then
      z:cmul(spread(self, column, matrix))
   end
   self.output = z:sum() / matrix:size(2)
   if self.sizeAverage then
      self.output = self.output / matrix:size(1)
   end
   return self.output
end

function MultiMarginCriterion:updateGradInput(input, target)
   local matrix = rows(input)
   local z, column = violations(self, matrix, target)
   local norm = 1 / matrix:size(2) / (self.sizeAverage and matrix:size(1) or 1)
   if self.p == 1 then
      z:sign():mul(norm)
   else
      z:mul(2 * norm)
   end
   if self.weights then
      z:cmul(spread(self, column, matrix))
   end
   z:scatter(2, column, z:sum(2):mul(-1))
   self.gradInput:resizeAs(input):copy(z)
   return self.gradInput
end
