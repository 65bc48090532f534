-- The indices of a dimension that the second input names, of the first.
local Index, parent = torch.class('nn.Index', 'nn.Module')

function Index:__init(dimension)
   parent.__init(self)
   self.dimension = dimension
   self.gradInput = {self.gradInput, self.gradInput.new()}
end

function Index:updateOutput(input)
   self.output:index(input[1], self.dimension, input[2])
   return self.output
end

function Index:updateGradInput(input, gradOutput)
   self.gradInput[1]:resizeAs(input[1]):zero()
   self.gradInput[1]:indexAdd(self.dimension, input[2], gradOutput)
   self.gradInput[2]:resize(input[2]:size()):zero()
   return self.gradInput
end

function Index:clearState()
   self.gradInput[1]:set()
   self.gradInput[2]:set()
   self.output:set()
   return self
end
