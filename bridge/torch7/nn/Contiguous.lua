-- The input without gaps: itself when it has none.
local Contiguous = torch.class('nn.Contiguous', 'nn.Module')

local function contiguous(buffer, tensor)
   if tensor:isContiguous() then
      return buffer:set(tensor)
   end
   if buffer:storage() and tensor:storage() and torch.pointer(buffer:storage()) == torch.pointer(tensor:storage()) then
      buffer = tensor.new()
   end
   return buffer:resizeAs(tensor):copy(tensor)
end

function Contiguous:updateOutput(input)
   self.output = contiguous(self.output, input)
   return self.output
end

function Contiguous:updateGradInput(_, gradOutput)
   self.gradInput = contiguous(self.gradInput, gradOutput)
   return self.gradInput
end
