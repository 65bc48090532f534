-- y_k = a' W_k b + bias_k of a table of two vectors a and b, or of the rows of two matrices.
local Bilinear, parent = torch.class('nn.Bilinear', 'nn.Module')

local function checked(size, name)
   if type(size) ~= 'number' or size <= 0 then
      error(name .. ' should be a positive number, got ' .. tostring(size), 3)
   end
   return size
end

function Bilinear:__init(inputSize1, inputSize2, outputSize, bias)
   parent.__init(self)
   checked(inputSize1, 'inputSize1')
   checked(inputSize2, 'inputSize2')
   checked(outputSize, 'outputSize')
   self.weight = torch.Tensor(outputSize, inputSize1, inputSize2)
   self.gradWeight = torch.Tensor(outputSize, inputSize1, inputSize2):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(outputSize)
      self.gradBias = torch.Tensor(outputSize):zero()
   end
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self:reset()
end

function Bilinear:reset(stdv)
   if stdv and (type(stdv) ~= 'number' or stdv <= 0) then
      error('standard deviation should be a positive number.')
   end
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   if self.bias then
      self.bias:uniform(-stdv, stdv)
   end
   return self
end

-- The two inputs, and gradOutput if there is one, as matrices with a row for each sample.
local function rows(self, input, gradOutput)
   if torch.type(input) ~= 'table' or #input ~= 2 or not torch.isTensor(input[1]) or not torch.isTensor(input[2]) then
      error('input should be a table containing two data Tensors', 3)
   end
   local a, b = input[1], input[2]
   if a:dim() ~= b:dim() or a:dim() < 1 or a:dim() > 2 then
      error('input Tensors should be two-dimensional, or both one-dimensional', 3)
   elseif a:dim() == 1 then
      local row = nn.utils.addSingletonDimension
      a, b, gradOutput = row(a), row(b), gradOutput and row(gradOutput)
   end
   if a:size(1) ~= b:size(1) then
      error('input Tensors should have the same number of rows', 3)
   elseif a:size(2) ~= self.weight:size(2) then
      error('dimensionality of first input is erroneous', 3)
   elseif b:size(2) ~= self.weight:size(3) then
      error('dimensionality of second input is erroneous', 3)
   elseif gradOutput and (gradOutput:size(1) ~= a:size(1) or gradOutput:size(2) ~= self.weight:size(1)) then
      error('dimensionality of gradOutput is erroneous', 3)
   end
   return a, b, gradOutput
end

-- Column k as wide as `other`.
local function column(tensor, k, other)
   return tensor:narrow(2, k, 1):expandAs(other)
end

function Bilinear:updateOutput(input)
   local a, b = rows(self, input)
   self.buff1 = self.buff1 or a.new()
   self.buff1:resizeAs(b)
   self.output:resize(a:size(1), self.weight:size(1))
   for k = 1, self.weight:size(1) do
      self.buff1:mm(a, self.weight[k]):cmul(b)
      self.output:select(2, k):copy(self.buff1:sum(2))
   end
   if self.bias then
      self.output:add(self.bias:view(1, -1):expandAs(self.output))
   end
   if input[1]:dim() == 1 then
      self.output:resize(self.weight:size(1))
   end
   return self.output
end

function Bilinear:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local a, b, gradient = rows(self, input, gradOutput)
   local da, db = self.gradInput[1]:resizeAs(a):zero(), self.gradInput[2]:resizeAs(b):zero()
   self.buff1 = self.buff1 or a.new()
   self.buff2 = self.buff2 or a.new()
   for k = 1, self.weight:size(1) do
      self.buff2:resizeAs(a):mm(b, self.weight[k]:t())
      da:add(self.buff2:cmul(column(gradient, k, a)))
      self.buff1:resizeAs(b):mm(a, self.weight[k])
      db:add(self.buff1:cmul(column(gradient, k, b)))
   end
   da:resizeAs(input[1])
   db:resizeAs(input[2])
   return self.gradInput
end

function Bilinear:accGradParameters(input, gradOutput, scale)
   local a, b, gradient = rows(self, input, gradOutput)
   scale = scale or 1
   for k = 1, self.weight:size(1) do
      self.gradWeight[k]:addmm(scale, torch.cmul(a, column(gradient, k, a)):t(), b)
   end
   if self.bias then
      self.gradBias:add(scale, gradient:sum(1))
   end
end

function Bilinear:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:defaultAccUpdateGradParameters(input, gradOutput, lr)
end

function Bilinear:__tostring__()
   return string.format('%s(%dx%d -> %d) %s', torch.type(self), self.weight:size(2), self.weight:size(3),
      self.weight:size(1), self.bias and '' or 'without bias')
end

function Bilinear:clearState()
   nn.utils.clear(self, 'output', 'buff1', 'buff2')
   self.gradInput = {self.output.new(), self.output.new()}
   return self
end
