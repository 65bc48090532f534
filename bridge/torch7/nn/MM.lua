-- The product of two matrices, or of each pair of two batches of them; either may be transposed first.
local MM, parent = torch.class('nn.MM', 'nn.Module')

function MM:__init(transA, transB)
   parent.__init(self)
   self.transA = transA or false
   self.transB = transB or false
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

-- The two inputs, transposed as wanted, and the name of the product.
local function operands(self, input)
   if #input ~= 2 then
      error('input must be a pair of minibatch matrices', 3)
   end
   local a, b = input[1], input[2]
   local dimensions = a:dim()
   if dimensions ~= 2 and dimensions ~= 3 then
      error('input tensors must be 2D or 3D', 3)
   elseif b:dim() ~= dimensions then
      error(string.format('second input tensor must be %dD', dimensions), 3)
   end
   a = self.transA and a:transpose(dimensions - 1, dimensions) or a
   b = self.transB and b:transpose(dimensions - 1, dimensions) or b
   if a:size(dimensions) ~= b:size(dimensions - 1) then
      error('matrix sizes do not match', 3)
   elseif dimensions == 3 and a:size(1) ~= b:size(1) then
      error('inputs must contain the same number of minibatches', 3)
   end
   return a, b, dimensions == 2 and 'mm' or 'bmm'
end

function MM:updateOutput(input)
   local a, b, product = operands(self, input)
   local size = a:size()
   size[#size] = b:size(b:dim())
   self.output:resize(size)
   return self.output[product](self.output, a, b)
end

function MM:updateGradInput(input, gradOutput)
   local a, b, product = operands(self, input)
   local da, db = self.gradInput[1]:resizeAs(input[1]), self.gradInput[2]:resizeAs(input[2])
   local last = a:dim()
   local at, bt, gt = a:transpose(last - 1, last), b:transpose(last - 1, last), gradOutput:transpose(last - 1, last)
   if self.transA then
      da[product](da, b, gt)
   else
      da[product](da, gradOutput, bt)
   end
   if self.transB then
      db[product](db, gt, a)
   else
      db[product](db, at, gradOutput)
   end
   return self.gradInput
end

function MM:clearState()
   nn.utils.clear(self, 'output')
   self.gradInput[1]:set()
   self.gradInput[2]:set()
   return self
end
