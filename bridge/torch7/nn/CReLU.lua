-- ReLU of x and of -x, one behind the other along the first dimension of a sample (of nInputDims dimensions): Shang,
-- Sohn, Almeida & Lee (2016).
local CReLU, parent = torch.class('nn.CReLU', 'nn.Sequential')

function CReLU:__init(nInputDims, inplace)
   parent.__init(self)
   self.nInputDims = nInputDims
   self.inplace = inplace or false
   self:add(nn.ConcatTable():add(nn.Identity()):add(nn.MulConstant(-1)))
   self:add(nn.JoinTable(2))
   self:add(nn.ReLU(self.inplace))
end

-- The tensor as a matrix with a row for each sample.
local function rows(self, tensor)
   if tensor:dim() == self.nInputDims then
      return tensor:contiguous():view(1, -1), 1
   elseif tensor:dim() == self.nInputDims + 1 then
      return tensor:contiguous():view(tensor:size(1), -1), 2
   end
   error(string.format('input of %d or %d dimensions expected, got %d', self.nInputDims, self.nInputDims + 1,
      tensor:dim()), 3)
end

function CReLU:updateOutput(input)
   local matrix, dimension = rows(self, input)
   parent.updateOutput(self, matrix)
   local size = input:size()
   size[dimension] = 2 * size[dimension]
   self.output = self.output:view(size)
   return self.output
end

function CReLU:backward(input, gradOutput, scale)
   self:updateGradInput(input, gradOutput)
   self:accGradParameters(input, gradOutput, scale)
   return self.gradInput
end

function CReLU:updateGradInput(input, gradOutput)
   local gradInput = parent.updateGradInput(self, (rows(self, input)), (rows(self, gradOutput)))
   self.gradInput = gradInput:view(input:size())
   return self.gradInput
end

-- There are no parameters.
function CReLU:accGradParameters()
end

function CReLU:__tostring__()
   return 'CReLU()'
end
