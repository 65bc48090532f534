-- A module whose weight is learned as length times direction (nn.shared.direction), along dimension `outputDim`.
local direction = require 'nn.shared.direction'

local WeightNorm, parent = torch.class('nn.WeightNorm', 'nn.Decorator')

function WeightNorm:__init(module, outputDim)
   parent.__init(self, module)
   if not module.weight then
      error('nn.WeightNorm: ' .. torch.type(module) .. ' has no weight')
   end
   self.bias = module.bias
   self.gradBias = module.gradBias
   self.weight = module.weight
   self.gradWeight = module.gradWeight
   self.outputDim = outputDim or 1
   local rows = self.weight:size(self.outputDim)
   self.otherDims = self.weight:nElement() / rows
   self.viewIn = torch.LongStorage{rows, self.otherDims}
   self.weightSize = self.weight:size()
   self.viewOut = self.weight:transpose(1, self.outputDim):size()
   self.v = torch.Tensor(rows, self.otherDims)
   self.g = torch.Tensor(rows, 1)
   self.gradV = torch.Tensor(rows, self.otherDims):zero()
   self.gradG = torch.Tensor(rows, 1):zero()
   self:resetInit()
end

-- The lengths of the rows of v, as a column.
local function lengths(self)
   return self.v:norm(2, 2):pow(2):add(1e-4):sqrt()
end

-- The weight, or its gradient, with a row for each output.
local function rows(self, tensor)
   return tensor:transpose(1, self.outputDim):contiguous():view(self.viewIn)
end

function WeightNorm:updateWeight()
   local weight = direction.weight(self.v.new():resizeAs(self.v), self.v, self.g, lengths(self))
   self.weight:copy(weight:view(self.viewOut):transpose(1, self.outputDim))
end

-- Draw a direction; lengths are those of the draw.
function WeightNorm:resetInit()
   self.v:normal(0, math.sqrt(2 / self.viewIn[2]))
   self.g:norm(self.v, 2, 2)
   if self.bias then
      self.bias:zero()
   end
   self:updateWeight()
end

-- Start from the module's own initialisation.
function WeightNorm:reset(stdv)
   self.modules[1]:reset(stdv)
   self.v:copy(rows(self, self.weight))
   self.g:norm(self.v, 2, 2)
end

function WeightNorm:evaluate()
   if self.train ~= false then
      self:updateWeight()
   end
   parent.evaluate(self)
end

function WeightNorm:updateOutput(input)
   if self.train ~= false then
      self:updateWeight()
   end
   return parent.updateOutput(self, input)
end

-- The gradient of this call's weight goes to direction and length, the bias's where it belongs.
function WeightNorm:accGradParameters(input, gradOutput, scale)
   self.gradWeight:zero()
   self.modules[1]:accGradParameters(input, gradOutput, scale or 1)
   direction.accumulate(self.gradV, self.gradG, rows(self, self.gradWeight), self.v, self.g, lengths(self))
end

function WeightNorm:defaultAccUpdateGradParameters(input, gradOutput, lr)
   self:zeroGradParameters()
   self:accGradParameters(input, gradOutput, 1)
   self:updateParameters(lr)
end

WeightNorm.accUpdateGradParameters = WeightNorm.defaultAccUpdateGradParameters
WeightNorm.sharedAccUpdateGradParameters = WeightNorm.defaultAccUpdateGradParameters
WeightNorm.updateParameters = nn.Module.updateParameters

function WeightNorm:zeroGradParameters()
   self.modules[1]:zeroGradParameters()
   self.gradV:zero()
   self.gradG:zero()
end

function WeightNorm:parameters()
   if self.bias then
      return {self.v, self.g, self.bias}, {self.gradV, self.gradG, self.gradBias}
   end
   return {self.v, self.g}, {self.gradV, self.gradG}
end
