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

-- The tensor as a matrix with a row for each sample of the input, which has a batch of them or is one.
local function rows(self, tensor, input)
   local batch = input:dim() == self.nInputDims + 1
   return tensor:contiguous():view(batch and input:size(1) or 1, -1), batch and 2 or 1
end

function CReLU:updateOutput(input)
   local matrix, dimension = rows(self, input, input)
   parent.updateOutput(self, matrix)
   local size = input:size()
   size[dimension] = 2 * size[dimension]
   self.output:resize(size)
   return self.output
end

-- There are no parameters.
function CReLU:backward(input, gradOutput)
   return self:updateGradInput(input, gradOutput)
end

function CReLU:updateGradInput(input, gradOutput)
   parent.updateGradInput(self, (rows(self, input, input)), (rows(self, gradOutput, input)))
   self.gradInput:resizeAs(input)
   return self.gradInput
end

function CReLU:__tostring__()
   return 'CReLU()'
end
