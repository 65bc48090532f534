-- A criterion as a module: its input is {input, target}, or {input}.
local CriterionTable, parent = torch.class('nn.CriterionTable', 'nn.Module')

function CriterionTable:__init(criterion)
   parent.__init(self)
   self.criterion = criterion
   self.gradInput = {criterion.gradInput}
end

function CriterionTable:updateOutput(input)
   self.output = self.criterion:updateOutput(unpack(input))
   return self.output
end

function CriterionTable:updateGradInput(input)
   self.gradInput[1] = self.criterion:updateGradInput(unpack(input))
   return self.gradInput
end
