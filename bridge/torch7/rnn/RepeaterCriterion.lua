-- A criterion for each step's output against one target; the loss is their sum.
local RepeaterCriterion, parent = torch.class('nn.RepeaterCriterion', 'nn.Criterion')

function RepeaterCriterion:__init(criterion)
   parent.__init(self)
   self.criterion = criterion
   self.gradInput = {}
   self.clones = {}
end

-- The criterion of a step: a clone, since criterions remember.
function RepeaterCriterion:getStepCriterion(step)
   self.clones[step] = self.clones[step] or self.criterion:clone()
   return self.clones[step]
end

function RepeaterCriterion:target(target)
   return target
end

function RepeaterCriterion:updateOutput(inputs, target)
   self.output = 0
   for step, input in ipairs(inputs) do
      self.output = self.output + self:getStepCriterion(step):forward(input, self:target(target, step))
   end
   return self.output
end

function RepeaterCriterion:updateGradInput(inputs, target)
   self.gradInput = {}
   for step, input in ipairs(inputs) do
      self.gradInput[step] = self:getStepCriterion(step):backward(input, self:target(target, step))
   end
   return self.gradInput
end
