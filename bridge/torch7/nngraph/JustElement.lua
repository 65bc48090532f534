-- The element of a table of one.
local JustElement = torch.class('nngraph.JustElement', 'nn.Module')

function JustElement:updateOutput(input)
   if type(input) ~= 'table' or #input ~= 1 then
      error(string.format('expecting a table with one element, got %s', type(input) == 'table'
         and 'one with ' .. #input or torch.type(input)), 0)
   end
   self.output = input[1]
   return self.output
end

function JustElement:updateGradInput(_, gradOutput)
   self.gradInput = {gradOutput}
   return self.gradInput
end
