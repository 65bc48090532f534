-- One index of a dimension.
local Select, parent = torch.class('nn.Select', 'nn.Module')

function Select:__init(dimension, index)
   parent.__init(self)
   self.dimension = dimension
   self.index = index
end

local function selected(self, input, tensor)
   local dimension = self.dimension < 0 and input:dim() + self.dimension + 1 or self.dimension
   local index = self.index < 0 and input:size(dimension) + self.index + 1 or self.index
   return tensor:select(dimension, index)
end

function Select:updateOutput(input)
   local part = selected(self, input, input)
   return self.output:resizeAs(part):copy(part)
end

function Select:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   selected(self, input, self.gradInput):copy(gradOutput)
   return self.gradInput
end
