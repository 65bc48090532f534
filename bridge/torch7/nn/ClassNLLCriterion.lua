-- The mean (or sum) of -weights[target] * x[target], x being log-probabilities: a vector, or the rows of a matrix.
-- Targets count from 1; rows whose target is `ignoreIndex` do not count.
local native = require 'bridge.native'
local arguments = require 'torch.arguments'
local checked = require 'nn.shared.checked'
local longs = require 'nn.shared.longs'
local numbers = require 'torch.number'
local object = require 'torch.object'
local elements = require 'torch.elements'

local C = native.C
local ClassNLLCriterion, parent = torch.class('nn.ClassNLLCriterion', 'nn.Criterion')

function ClassNLLCriterion:__init(weights, sizeAverage, ignoreIndex)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
   self.ignoreIndex = ignoreIndex or -100
   self.weights = checked.weights(weights)
   self.output_tensor = torch.Tensor(1)
   self.total_weight_tensor = torch.ones(1)
   self.target = torch.zeros(1):long()
end

-- The number of rows and of classes, and how far apart the elements of a row, and the rows, lie.
local function layout(tensor)
   if tensor:dim() == 1 then
      return 1, tensor:size(1), tensor:stride(1), 0
   elseif tensor:dim() == 2 then
      return tensor:size(1), tensor:size(2), tensor:stride(2), tensor:stride(1)
   end
   error('input tensor should be 1D or 2D', 3)
end

-- Call f(row, class from 0, weight) for each row that counts; the sum of the weights.
local function each(self, input, f)
   local rows, classes = layout(input)
   local target, ignore, weights = self.target, self.ignoreIndex or -100, self.weights
   if target:nElement() ~= rows then
      error(string.format('%d targets expected, got %d', rows, target:nElement()), 3)
   elseif weights and weights:nElement() ~= classes then
      error('weight tensor should be defined either for all or no classes', 3)
   end
   local total = 0
   for row = 1, rows do
      local class = target[row]
      if class ~= ignore then
         if not (class >= 1 and class <= classes) then
            arguments.noted(class, 1, classes, 'cur_target')
            error("Assertion `cur_target >= 0 && cur_target < n_classes' failed. ", 3)
         end
         local weight = weights and weights[class] or 1
         total = total + weight
         f(row - 1, class - 1, weight)
      end
   end
   return total
end

local function settarget(self, input, target)
   if type(target) == 'number' then
      self.target = longs.beside(self.target, input):resize(1):fill(target)
   else
      self.target = longs.beside(target, input)
   end
end

local function ondevice(input)
   return object.dtype(input) >= elements.DEVICE
end

-- On a device, where no loop reaches: the input as a matrix, targets as a column, and each row's weight, 0 where it
-- does not count.
local function wholes(self, input)
   local rows, classes = layout(input)
   local target, weights = self.target:contiguous():view(-1, 1), self.weights
   if target:nElement() ~= rows then
      error(string.format('%d targets expected, got %d', rows, target:nElement()), 3)
   elseif weights and weights:nElement() ~= classes then
      error('weight tensor should be defined either for all or no classes', 3)
   end
   local ignored = target:eq(self.ignoreIndex or -100)
   target = target:clone() -- it may be the caller's
   target[ignored] = 1
   if target:min() < 1 or target:max() > classes then
      arguments.notedamong(target, classes, 'cur_target')
      error("Assertion `cur_target >= 0 && cur_target < n_classes' failed. ", 3)
   end
   local counts = weights and weights:index(1, target:view(-1)):view(-1, 1) or input.new(rows, 1):fill(1)
   counts[ignored] = 0
   return input:contiguous():view(rows, classes), target, counts
end

function ClassNLLCriterion:updateOutput(input, target)
   settarget(self, input, target)
   local sum, total = 0
   if ondevice(input) then
      local matrix, column, weights = wholes(self, input)
      sum, total = -matrix:gather(2, column):cmul(weights):sum(), weights:sum()
   else
      local _, _, element, line = layout(input)
      local data, number = input:data(), numbers[object.dtype(input)]
      total = each(self, input, function(row, class, weight)
         sum = sum - weight * number(data, row * line + class * element)
      end)
   end
   self.output_tensor[1] = self.sizeAverage and total ~= 0 and sum / total or sum
   self.total_weight_tensor[1] = total
   self.output = self.output_tensor[1]
   return self.output, total
end

function ClassNLLCriterion:updateGradInput(input, target)
   settarget(self, input, target)
   self.gradInput:resizeAs(input):zero()
   local total = self.total_weight_tensor[1]
   if not (total > 0) then
      return self.gradInput
   end
   local factor = self.sizeAverage and 1 / total or 1
   if ondevice(input) then
      local matrix, column, weights = wholes(self, input)
      self.gradInput:viewAs(matrix):scatter(2, column, weights:mul(-factor))
      return self.gradInput
   end
   local _, _, element, line = layout(self.gradInput)
   local data, half = self.gradInput:data(), object.dtype(self.gradInput) == elements.Half.id
   each(self, input, function(row, class, weight)
      local slope = -weight * factor
      data[row * line + class * element] = half and C.br_half_from_double(slope) or slope
   end)
   return self.gradInput
end
