-- `length` indices of a dimension from `offset` on. A negative length counts places from the end; with a negative
-- offset the part is what is left in front of those that would be taken.
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
   local index, length, size = self.index, self.length, input:size(dimension)
   if length < 0 then
      length = size - index + length + 2
   end
   if index < 0 then
      index, length = 1, size - length
   end
   return tensor:narrow(dimension, index, length)
end

function Narrow:updateOutput(input)
   local part = narrowed(self, input, input)
   self.output = self.output:typeAs(part)
   return self.output:resizeAs(part):copy(part)
end

function Narrow:updateGradInput(input, gradOutput)
   self.gradInput = self.gradInput:typeAs(input)
   self.gradInput:resizeAs(input):zero()
   narrowed(self, input, self.gradInput):copy(gradOutput)
   return self.gradInput
end
