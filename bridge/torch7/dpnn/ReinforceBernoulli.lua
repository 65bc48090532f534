-- Ones drawn with the probabilities that are the input, else zeros.
local ReinforceBernoulli = torch.class('nn.ReinforceBernoulli', 'nn.Reinforce')

function ReinforceBernoulli:updateOutput(input)
   self.output:resizeAs(input)
   if self:draws() then
      self._uniform = self._uniform or input.new()
      self._uniform:resizeAs(input):uniform(0, 1)
      self.output:lt(self._uniform, input)
   else
      self.output:copy(input)
   end
   return self.output
end

-- -reward (x - p) / (p (1 - p))
function ReinforceBernoulli:updateGradInput(input)
   local variance = torch.cmul(input, input):mul(-1):add(input)
   self.gradInput:resizeAs(input):copy(self.output):add(-1, input):cdiv(variance)
   self.gradInput:cmul(self:rewardAs(input)):mul(-1)
   return self.gradInput
end
