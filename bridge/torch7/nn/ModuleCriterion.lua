-- A criterion on what one module makes of the input, and another of the target; either may be left out.
local ModuleCriterion, parent = torch.class('nn.ModuleCriterion', 'nn.Criterion')

function ModuleCriterion:__init(criterion, inputModule, targetModule, castTarget)
   parent.__init(self)
   if torch.type(castTarget) ~= 'nil' and torch.type(castTarget) ~= 'boolean' then
      error('castTarget must be a boolean, got ' .. torch.type(castTarget))
   end
   self.inputModule = inputModule
   self.targetModule = targetModule
   self.castTarget = castTarget == nil or castTarget
   if self.inputModule then
      local params = self.inputModule:parameters()
      if params and #params > 0 then
         print('Warning: nn.ModuleCriterion doesn\'t support parameter updates')
      end
   end
   self.criterion = criterion
end

local function through(self, input, target)
   input = self.inputModule and self.inputModule:forward(input) or input
   target = self.targetModule and self.targetModule:forward(target) or target
   return input, target
end

function ModuleCriterion:updateOutput(input, target)
   self.input, self.target = through(self, input, target)
   self.output = self.criterion:forward(self.input, self.target)
   return self.output
end

function ModuleCriterion:updateGradInput(input)
   self.gradInput = self.criterion:backward(self.input, self.target)
   if self.inputModule then
      self.gradInput = self.inputModule:backward(input, self.gradInput)
   end
   return self.gradInput
end

-- `castTarget`: whether the target's module is converted too.
function ModuleCriterion:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   local targetModule = self.targetModule
   if not self.castTarget then
      self.targetModule = nil
   end
   parent.type(self, typename, tensorCache)
   self.targetModule = targetModule
   return self
end
