-- A criterion as a module of {input, target}, whose output is a tensor with the loss.
local typecopy = require 'nn.shared.typecopy'
local zeros = require 'nn.shared.zeros'

local ModuleFromCriterion, parent = torch.class('nn.ModuleFromCriterion', 'nn.Module')

function ModuleFromCriterion:__init(criterion, castTarget)
   parent.__init(self)
   self.criterion = criterion
   self.castTarget = castTarget
   self.gradInput = {}
end

local function operands(self, input)
   if torch.type(input) ~= 'table' or input[1] == nil then
      error('input must be a table {input, target}', 3)
   end
   local target = input[2]
   if self.castTarget then
      self._target = typecopy(self._target, target, self:type())
      target = self._target
   end
   return input[1], target
end

function ModuleFromCriterion:updateOutput(input)
   local loss = self.criterion:updateOutput(operands(self, input))
   if type(loss) == 'number' then
      self.output:resize(1)[1] = loss
   else
      self.output = loss
   end
   return self.output
end

-- The target has no gradient: zeros.
function ModuleFromCriterion:updateGradInput(input, gradOutput)
   local gradient = self.criterion:updateGradInput(operands(self, input))
   local scale = torch.isTensor(gradOutput) and gradOutput:nElement() == 1 and gradOutput:sum() or 1
   self.gradInput[1] = zeros(self.gradInput[1], gradient)
   self.gradInput[1] = nn.utils.recursiveAdd(self.gradInput[1], scale, gradient)
   if type(input[2]) == 'table' or torch.isTensor(input[2]) then
      self.gradInput[2] = zeros(self.gradInput[2], input[2])
   else
      self.gradInput[2] = 0
   end
   return self.gradInput
end
