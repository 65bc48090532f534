-- `length` indices of a dimension from `offset` on; a negative length counts from the end.
local Narrow, parent = torch.class('nn.Narrow', 'nn.Module')

function Narrow:__init(dimension, offset, length)
   parent.__init(self)
   self.dimension = dimension
   self.index = offset
   self.length = length or 1
   if not dimension or not offset then
      error('nn.Narrow(dimension, offset, length)')
   end
end

local function narrowed(self, input, tensor)
   local dimension = self.dimension < 0 and input:dim() + self.dimension + 1 or self.dimension
   local offset = self.index < 0 and input:size(dimension) + self.index + 1 or self.index
   local length = self.length < 0 and input:size(dimension) - offset + self.length + 2 or self.length
   return tensor:narrow(dimension, offset, length)
end

function Narrow:updateOutput(input)
   local part = narrowed(self, input, input)
   return self.output:resizeAs(part):copy(part)
end

function Narrow:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   narrowed(self, input, self.gradInput):copy(gradOutput)
   return self.gradInput
end
