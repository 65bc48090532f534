-- The mean (or sum) over places of -weights[target] * x[target]: x holds log-probabilities as batch x classes x height
-- x width, targets are batch x height x width, counted from 1; places whose target is `ignoreIndex` do not count.
local arguments = require 'torch.arguments'
local checked = require 'nn.shared.checked'
local longs = require 'nn.shared.longs'

local SpatialClassNLLCriterion, parent = torch.class('nn.SpatialClassNLLCriterion', 'nn.Criterion')

function SpatialClassNLLCriterion:__init(weights, sizeAverage, ignoreIndex)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
   self.ignoreIndex = ignoreIndex or -100
   self.weights = checked.weights(weights)
   self.output_tensor = torch.Tensor(1)
   self.total_weight_tensor = torch.ones(1)
   self.target = torch.zeros(1):long()
end

-- The targets as batch x 1 x height x width, and the weight of each place.
local function placed(self, input, target)
   if target:dim() ~= 3 then
      error('only batches of spatial targets supported (3D tensors)', 3)
   elseif input:dim() ~= 4 then
      error('only batches of spatial inputs supported (4D tensors)', 3)
   end
   local classes = input:size(2)
   if target:size(1) ~= input:size(1) or target:size(2) ~= input:size(3) or target:size(3) ~= input:size(4) then
      error('input and target must have the same batch size, height and width', 3)
   elseif self.weights and self.weights:nElement() ~= classes then
      error('weight tensor should be defined either for all or no classes', 3)
   end
   self.target = longs.beside(target, input):contiguous()
   local ignored = self.target:eq(self.ignoreIndex or -100)
   if ignored:max() == 1 then
      self.target = self.target:clone() -- they are the caller's
      self.target:maskedFill(ignored, 1)
   end
   if self.target:min() < 1 or self.target:max() > classes then
      arguments.notedamong(self.target, classes, 'cur_target')
      error("Assertion `cur_target >= 0 && cur_target < n_classes' failed. ", 3)
   end
   local column = self.target:view(target:size(1), 1, target:size(2), target:size(3))
   local weights = input.new(column:size()):fill(1)
   if self.weights then
      weights:copy(self.weights:index(1, self.target:view(-1)))
   end
   weights:maskedFill(ignored, 0)
   return column, weights
end

function SpatialClassNLLCriterion:updateOutput(input, target)
   local column, weights = placed(self, input, target)
   local total = weights:sum()
   local loss = -weights:cmul(input:gather(2, column)):sum()
   self.total_weight_tensor[1] = total
   self.output_tensor[1] = self.sizeAverage and total ~= 0 and loss / total or loss
   self.output = self.output_tensor[1]
   return self.output, total
end

function SpatialClassNLLCriterion:updateGradInput(input, target)
   local column, weights = placed(self, input, target)
   self.gradInput:resizeAs(input):zero()
   local total = self.total_weight_tensor[1]
   if total > 0 then
      self.gradInput:scatter(2, column, weights:mul(self.sizeAverage and -1 / total or -1))
   end
   return self.gradInput
end
