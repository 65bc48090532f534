-- Dimensions of size 1 left out: all, or one.
local Squeeze, parent = torch.class('nn.Squeeze', 'nn.Module')

function Squeeze:__init(dim, numInputDims)
   parent.__init(self)
   self.dim = dim
   self:setNumInputDims(numInputDims)
end

function Squeeze:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

function Squeeze:updateOutput(input)
   if not self.dim then
      local squeezed = input:squeeze()
      self.output:set(torch.isTensor(squeezed) and squeezed or input:view(1))
      return self.output
   end
   local moved = self.numInputDims and input:dim() == self.numInputDims + 1 and 1 or 0
   self.output:set(input:squeeze(self.dim + moved))
   return self.output
end

function Squeeze:updateGradInput(input, gradOutput)
   self.gradInput:view(gradOutput:contiguous(), input:size())
   return self.gradInput
end
