-- A dimension of size 1 put in.
local Unsqueeze, parent = torch.class('nn.Unsqueeze', 'nn.Module')

function Unsqueeze:__init(pos, numInputDims)
   parent.__init(self)
   self.pos = pos or error('the position to insert singleton dim not specified')
   self:setNumInputDims(numInputDims)
end

function Unsqueeze:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

function Unsqueeze:updateOutput(input)
   local inner = self.numInputDims or input:dim()
   if input:dim() < inner then
      error(string.format('input has %d dimensions, at least %d expected', input:dim(), inner))
   end
   nn.utils.addSingletonDimension(self.output, input, input:dim() - inner + self.pos)
   return self.output
end

function Unsqueeze:updateGradInput(input, gradOutput)
   self.gradInput:view(gradOutput:contiguous(), input:size())
   return self.gradInput
end

function Unsqueeze:__tostring__()
   return torch.type(self) .. '(dim ' .. self.pos .. ')'
end
