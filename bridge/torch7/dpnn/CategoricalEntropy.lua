-- Passes probabilities on, and keeps the entropy of their mean over the batch high: its gradient is that of
-- -scale * entropy.
local CategoricalEntropy, parent = torch.class('nn.CategoricalEntropy', 'nn.Module')

function CategoricalEntropy:__init(scale, minEntropy)
   parent.__init(self)
   self.scale = scale or 1
   self.minEntropy = minEntropy
   self.gradEntropy = torch.Tensor()
end

function CategoricalEntropy:updateOutput(input)
   if input:dim() ~= 2 then
      error(string.format('nn.CategoricalEntropy: only works with batches (2D), got %dD', input:dim()))
   end
   self.output:set(input)
   self.P = input:sum(1):mul(1 / input:sum())
   self.logP = torch.add(self.P, 1e-7):log()
   self.entropy = -torch.cmul(self.P, self.logP):sum()
   return self.output
end

function CategoricalEntropy:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput)
   if self.minEntropy and self.entropy > self.minEntropy then
      return self.gradInput
   end
   -- d(-H)/dx[k] = (1 + log p[k] - sum_i p[i] (1 + log p[i])) / sum(x)
   local slope = torch.add(self.logP, 1)
   slope:add(-torch.cmul(self.P, slope):sum()):mul(self.scale / input:sum())
   self.gradEntropy = slope
   self.gradInput:add(slope:expandAs(input))
   return self.gradInput
end
