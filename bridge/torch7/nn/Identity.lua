-- The input, as it is.
local Identity = torch.class('nn.Identity', 'nn.Module')

function Identity:updateOutput(input)
   self.output = input
   return self.output
end

function Identity:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput
   return self.gradInput
end

function Identity:clearState()
   for _, name in ipairs{'output', 'gradInput'} do
      if torch.isTensor(self[name]) then -- another module's: let go, not emptied
         self[name] = self[name].new()
      elseif type(self[name]) == 'table' then
         self[name] = {}
      end
   end
   return self
end
