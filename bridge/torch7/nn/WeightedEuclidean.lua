-- The distances from the input to each column of a learned matrix, each coordinate of each column with a learned
-- weight.
local columns = require 'nn.shared.columns'

local WeightedEuclidean, parent = torch.class('nn.WeightedEuclidean', 'nn.Module')

function WeightedEuclidean:__init(inputSize, outputSize)
   parent.__init(self)
   self.weight = torch.Tensor(inputSize, outputSize)
   self.gradWeight = torch.Tensor(inputSize, outputSize):zero()
   self.diagCov = torch.Tensor(inputSize, outputSize)
   self.gradDiagCov = torch.Tensor(inputSize, outputSize):zero()
   self.gradInput:resize(inputSize)
   self.output:resize(outputSize)
   self.fastBackward = true
   self:reset()
end

function WeightedEuclidean:reset(stdv)
   nn.Euclidean.reset(self, stdv)
   self.diagCov:fill(1)
end

-- The differences, and the weights as large.
local function differences(self, input)
   local tensor = columns.differences(self.weight, input)
   return tensor, columns.spread(self.diagCov, tensor:size())
end

function WeightedEuclidean:updateOutput(input)
   local difference, weights = differences(self, input)
   return columns.lengths(self.output, difference:cmul(weights), input)
end

-- The gradient of each sample's distances with respect to the differences.
local function gradients(self, input, gradOutput)
   local difference, weights = differences(self, input)
   return difference:cmul(weights):cmul(weights):cmul(columns.slopes(self.output, gradOutput, difference:size()))
end

function WeightedEuclidean:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.gradInput:sum(gradients(self, input, gradOutput), 3)
      return self.gradInput:resizeAs(input)
   end
end

function WeightedEuclidean:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local difference, weights = differences(self, input)
   local slopes = columns.slopes(self.output, gradOutput, difference:size())
   local squares = torch.cmul(difference, difference):cmul(weights):cmul(slopes)
   self.gradDiagCov:add(scale, squares:sum(1))
   self.gradWeight:add(-scale, gradients(self, input, gradOutput):sum(1))
end

function WeightedEuclidean:parameters()
   return {self.weight, self.diagCov}, {self.gradWeight, self.gradDiagCov}
end

-- Gradients go straight into the parameters; both are taken at the old values.
function WeightedEuclidean:accUpdateGradParameters(input, gradOutput, lr)
   local gradWeight, gradDiagCov = self.gradWeight, self.gradDiagCov
   self.gradWeight, self.gradDiagCov = self.weight:clone(), self.diagCov:clone()
   self:accGradParameters(input, gradOutput, -lr)
   self.weight:copy(self.gradWeight)
   self.diagCov:copy(self.gradDiagCov)
   self.gradWeight, self.gradDiagCov = gradWeight, gradDiagCov
end

WeightedEuclidean.type = nn.Euclidean.type

function WeightedEuclidean:clearState()
   nn.utils.clear(self, '_input', '_output', '_gradOutput', '_weight', '_div', '_sum', '_repeat', '_repeat2',
      '_repeat3', '_expand', '_expand2', '_expand3', '_expand4', '_diagCov', '_gradDiagCov')
   return parent.clearState(self)
end
