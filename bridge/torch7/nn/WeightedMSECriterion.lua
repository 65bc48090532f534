-- The mean (or sum) of squared differences between the input and the target times a tensor of weights.
local WeightedMSECriterion, parent = torch.class('nn.WeightedMSECriterion', 'nn.MSECriterion')

function WeightedMSECriterion:__init(w)
   parent.__init(self)
   self.weight = w:clone()
   self.buffer = torch.Tensor()
end

-- The target times the weights, which are the same for each of a batch.
local function weighted(self, input, target)
   self.buffer:resizeAs(input):copy(target)
   local weight = self.weight
   if input:dim() - 1 == weight:dim() then
      weight = nn.utils.addSingletonDimension(weight):expandAs(input)
   end
   return self.buffer:cmul(weight)
end

function WeightedMSECriterion:updateOutput(input, target)
   return parent.updateOutput(self, input, weighted(self, input, target))
end

function WeightedMSECriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, weighted(self, input, target))
end
