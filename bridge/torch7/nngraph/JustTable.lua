-- A table of one: the input.
local JustTable = torch.class('nngraph.JustTable', 'nn.Module')

function JustTable:updateOutput(input)
   self.output = {input}
   return self.output
end

function JustTable:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput[1]
   return self.gradInput
end
