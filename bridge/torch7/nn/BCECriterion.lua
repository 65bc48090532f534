-- Binary cross entropy: the mean (or sum) of -(target log(x) + (1 - target) log(1 - x)), weighted.
local checked = require 'nn.shared.checked'

local BCECriterion, parent = torch.class('nn.BCECriterion', 'nn.Criterion')

local EPS = 1e-12

function BCECriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
   self.weights = checked.weights(weights)
end

local function spread(self, input)
   local weights = self.weights
   if weights and input:dim() ~= 1 then
      return weights:view(1, -1):expandAs(input)
   end
   return weights
end

function BCECriterion:updateOutput(input, target)
   checked.sizes(input, target)
   local weights = spread(self, input)
   local hit = torch.add(input, EPS):log()
   local miss = torch.mul(input, -1):add(1 + EPS):log()
   local sum = hit:add(-1, miss):cmul(target):add(miss)
   if weights then
      sum:cmul(weights)
   end
   self.output = -sum:sum()
   if self.sizeAverage then
      self.output = self.output / input:nElement()
   end
   return self.output
end

function BCECriterion:updateGradInput(input, target)
   checked.sizes(input, target)
   local weights = spread(self, input)
   local spreadout = torch.mul(input, -1):add(1 + EPS):cmul(torch.add(input, EPS))
   self.gradInput:resizeAs(input):copy(input):add(-1, target):cdiv(spreadout)
   if weights then
      self.gradInput:cmul(weights)
   end
   if self.sizeAverage then
      self.gradInput:div(target:nElement())
   end
   return self.gradInput
end
