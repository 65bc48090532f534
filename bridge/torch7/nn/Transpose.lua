-- Pairs of dimensions exchanged, one after the other.
local Transpose, parent = torch.class('nn.Transpose', 'nn.Module')

function Transpose:__init(...)
   parent.__init(self)
   self.permutations = {...}
   self.numInputDims = nil
end

function Transpose:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

-- What the dimensions are moved by when the input has one more in front.
local function offset(self, input)
   return self.numInputDims and input:dim() == self.numInputDims + 1 and 1 or 0
end

function Transpose:updateOutput(input)
   local moved = offset(self, input)
   local output = input
   for _, pair in ipairs(self.permutations) do
      output = output:transpose(pair[1] + moved, pair[2] + moved)
   end
   return self.output:resizeAs(output):copy(output)
end

function Transpose:updateGradInput(input, gradOutput)
   local moved = offset(self, input)
   for i = #self.permutations, 1, -1 do
      local pair = self.permutations[i]
      gradOutput = gradOutput:transpose(pair[1] + moved, pair[2] + moved)
   end
   return self.gradInput:resizeAs(gradOutput):copy(gradOutput)
end
