-- The same tensor whatever the input; once for each of a batch when the input has more than nInputDim dimensions.
local Constant, parent = torch.class('nn.Constant', 'nn.Module')

function Constant:__init(value, nInputDim)
   self.value = value
   if type(value) == 'number' then
      self.value = torch.Tensor{value}
   elseif not torch.isTensor(value) then
      error('Expecting number or tensor at arg 1')
   end
   self.nInputDim = nInputDim
   parent.__init(self)
end

function Constant:updateOutput(input)
   if self.nInputDim and input:dim() > self.nInputDim then
      local value = nn.utils.addSingletonDimension(self.value)
      local size = value:size()
      size[1] = input:size(1)
      self.output:resize(size):copy(value:expand(size))
   else
      self.output:resize(self.value:size()):copy(self.value)
   end
   return self.output
end

function Constant:updateGradInput(input)
   self.gradInput:resizeAs(input):zero()
   return self.gradInput
end
