-- One class for each row of probabilities, drawn, as a one among zeros.
local ReinforceCategorical, parent = torch.class('nn.ReinforceCategorical', 'nn.Reinforce')

function ReinforceCategorical:updateOutput(input)
   self.output:resizeAs(input)
   if self:draws() then
      self._index = torch.multinomial(input, 1)
      self.output:zero():scatter(2, self._index, 1)
   else
      self.output:copy(input)
   end
   return self.output
end

-- -reward / p where the class was drawn
function ReinforceCategorical:updateGradInput(input)
   self.gradInput:resizeAs(input):copy(self.output)
   self.gradInput:cdiv(torch.add(input, 1e-8)):cmul(self:rewardAs(input)):mul(-1)
   return self.gradInput
end

function ReinforceCategorical:type(typename, tensorCache)
   self._index = nil
   return parent.type(self, typename, tensorCache)
end
