-- The product of a matrix (transposed first, if `trans`) and a vector, or of each pair of two batches of them.
local MV, parent = torch.class('nn.MV', 'nn.Module')

function MV:__init(trans)
   parent.__init(self)
   self.trans = trans or false
   if type(self.trans) ~= 'boolean' then
      error('argument trans must be a boolean, got ' .. type(self.trans))
   end
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

local function operands(self, input)
   if #input ~= 2 then
      error('input must be a pair of minibatch matrices', 3)
   end
   local matrix, vector = input[1], input[2]
   local dimensions = matrix:dim()
   if dimensions ~= 2 and dimensions ~= 3 then
      error('input matrix must be 2D or 3D', 3)
   elseif vector:dim() ~= dimensions - 1 then
      error(string.format('input vector must be %dD', dimensions - 1), 3)
   elseif dimensions == 3 and matrix:size(1) ~= vector:size(1) then
      error('inputs must contain the same number of minibatches', 3)
   end
   matrix = self.trans and matrix:transpose(dimensions - 1, dimensions) or matrix
   if matrix:size(dimensions) ~= vector:size(dimensions - 1) then
      error('matrix row count and vector length do not match', 3)
   end
   return matrix, vector
end

function MV:updateOutput(input)
   local matrix, vector = operands(self, input)
   if matrix:dim() == 2 then
      self.output:resize(matrix:size(1))
      return self.output:mv(matrix, vector)
   end
   local batch, rows = matrix:size(1), matrix:size(2)
   self.output:resize(batch, rows, 1):bmm(matrix, vector:contiguous():view(batch, -1, 1))
   return self.output:resize(batch, rows)
end

function MV:updateGradInput(input, gradOutput)
   local matrix, vector = operands(self, input)
   local dmatrix, dvector = self.gradInput[1]:resizeAs(input[1]), self.gradInput[2]:resizeAs(vector)
   local left, right = gradOutput, vector
   if self.trans then
      left, right = right, left
   end
   if matrix:dim() == 2 then
      dmatrix:ger(left, right)
      dvector:mv(matrix:t(), gradOutput)
      return self.gradInput
   end
   local batch = matrix:size(1)
   dmatrix:bmm(left:contiguous():view(batch, -1, 1), right:contiguous():view(batch, 1, -1))
   dvector:resize(batch, matrix:size(3), 1)
   dvector:bmm(matrix:transpose(2, 3), gradOutput:contiguous():view(batch, -1, 1))
   dvector:resizeAs(vector)
   return self.gradInput
end

MV.clearState = nn.MM.clearState
