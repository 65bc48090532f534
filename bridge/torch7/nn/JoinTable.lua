-- A table's tensors one after the other along a dimension.
local JoinTable, parent = torch.class('nn.JoinTable', 'nn.Module')

function JoinTable:__init(dimension, nInputDims)
   parent.__init(self)
   self.size = torch.LongStorage()
   self.dimension = dimension
   self.gradInput = {}
   self.nInputDims = nInputDims
end

function JoinTable:_getPositiveDimension(input)
   local dimension = self.dimension
   if dimension < 0 then
      dimension = input[1]:dim() + dimension + 1
   elseif self.nInputDims and input[1]:dim() == self.nInputDims + 1 then
      dimension = dimension + 1
   end
   return dimension
end

function JoinTable:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   local size = input[1]:size()
   for i = 2, #input do
      size[dimension] = size[dimension] + input[i]:size(dimension)
   end
   self.size = size
   self.output:resize(size)
   local offset = 1
   for i = 1, #input do
      local length = input[i]:size(dimension)
      self.output:narrow(dimension, offset, length):copy(input[i])
      offset = offset + length
   end
   return self.output
end

function JoinTable:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   local offset = 1
   for i = 1, #input do
      local length = input[i]:size(dimension)
      self.gradInput[i] = self.gradInput[i] or input[i].new()
      self.gradInput[i]:resizeAs(input[i]):copy(gradOutput:narrow(dimension, offset, length))
      offset = offset + length
   end
   for i = #input + 1, #self.gradInput do
      self.gradInput[i] = nil
   end
   return self.gradInput
end
