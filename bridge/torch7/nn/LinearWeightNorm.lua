-- nn.Linear whose weight is learned as length times direction (nn.shared.direction), by rows.
local direction = require 'nn.shared.direction'

local LinearWeightNorm, parent = torch.class('nn.LinearWeightNorm', 'nn.Linear')

function LinearWeightNorm:__init(inputSize, outputSize, bias, eps)
   nn.Module.__init(self)
   self.eps = eps or 1e-16
   self.outputSize = outputSize
   self.inputSize = inputSize
   self.v = torch.Tensor(outputSize, inputSize)
   self.gradV = torch.Tensor(outputSize, inputSize):zero()
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self.g = torch.Tensor(outputSize, 1)
   self.gradG = torch.Tensor(outputSize, 1):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(outputSize)
      self.gradBias = torch.Tensor(outputSize):zero()
   end
   self:reset()
end

function LinearWeightNorm:reset(stdv)
   parent.reset(self, stdv)
   self:initFromWeight()
   return self
end

-- The lengths of a matrix's rows, as a column.
local function lengths(self, matrix)
   return matrix:norm(2, 2):clamp(self.eps, math.huge)
end

-- Length and direction of a weight (this module's).
function LinearWeightNorm:initFromWeight(weight)
   weight = weight or self.weight
   self.g:copy(lengths(self, weight))
   self.v:copy(weight)
   return self
end

-- nn.LinearWeightNorm.fromLinear(linear): one that computes the same.
function LinearWeightNorm.fromLinear(linear)
   local module = nn.LinearWeightNorm(linear.weight:size(2), linear.weight:size(1), torch.isTensor(linear.bias))
   module.weight:copy(linear.weight)
   module:initFromWeight()
   if linear.bias then
      module.bias:copy(linear.bias)
   end
   return module
end

function LinearWeightNorm:toLinear()
   self:updateWeightMatrix()
   local linear = nn.Linear(self.inputSize, self.outputSize, torch.isTensor(self.bias)):type(self:type())
   linear.weight:copy(self.weight)
   if self.bias then
      linear.bias:copy(self.bias)
   end
   return linear
end

function LinearWeightNorm:parameters()
   if self.bias then
      return {self.v, self.g, self.bias}, {self.gradV, self.gradG, self.gradBias}
   end
   return {self.v, self.g}, {self.gradV, self.gradG}
end

function LinearWeightNorm:updateWeightMatrix()
   direction.weight(self.weight, self.v, self.g, lengths(self, self.v))
end

function LinearWeightNorm:evaluate()
   if self.train ~= false then
      self:updateWeightMatrix()
   end
   parent.evaluate(self)
end

function LinearWeightNorm:updateOutput(input)
   if self.train ~= false then
      self:updateWeightMatrix()
   end
   return parent.updateOutput(self, input)
end

function LinearWeightNorm:accGradParameters(input, gradOutput, scale)
   self.gradWeight:zero()
   parent.accGradParameters(self, input, gradOutput, scale or 1)
   direction.accumulate(self.gradV, self.gradG, self.gradWeight, self.v, self.g, lengths(self, self.v))
end

function LinearWeightNorm:defaultAccUpdateGradParameters(input, gradOutput, lr)
   self:zeroGradParameters()
   self:accGradParameters(input, gradOutput, 1)
   self:updateParameters(lr)
end

function LinearWeightNorm:__tostring__()
   return string.format('%s(%d -> %d)%s', torch.type(self), self.inputSize, self.outputSize,
      self.bias and '' or ' without bias')
end
