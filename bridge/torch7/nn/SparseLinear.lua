-- nn.Linear of sparse vectors: a matrix of index and value by rows, a list (table) of them as a batch, or one matrix
-- with rows of sample, index and value.
local SparseLinear, parent = torch.class('nn.SparseLinear', 'nn.Module')

function SparseLinear:__init(inputSize, outputSize, doGradInput)
   parent.__init(self)
   self.weightDecay = 0
   self.doGradInput = doGradInput or false
   self.weight = torch.Tensor(outputSize, inputSize):zero()
   self.bias = torch.Tensor(outputSize):zero()
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self.gradBias = torch.Tensor(outputSize):zero()
   self:reset()
end

function SparseLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(0.000001)
end

-- Each sample's entries, and whether they are a batch: lists of matrices of index and value.
local function samples(input)
   if type(input) == 'table' then
      return input, true
   elseif input:dim() == 3 then
      local list = {}
      for i = 1, input:size(1) do
         list[i] = input[i]
      end
      return list, true
   elseif input:dim() == 2 and input:size(2) == 3 then
      local list = {}
      for i = 1, input:max(1)[1][1] do
         local rows = input:select(2, 1):eq(i):nonzero()
         list[i] = rows:nElement() > 0 and input:index(1, rows:view(-1)):narrow(2, 2, 2) or input.new()
      end
      return list, true
   elseif input:dim() == 2 and input:size(2) == 2 then
      return {input}, false
   end
   error('input must be a matrix of index and value, a list of them, or a matrix of sample, index and value', 3)
end

-- Call f(row, indices, values) for each sample with entries. Indices of 0 pad samples.
local function each(self, list, f)
   for row, entries in ipairs(list) do
      if entries:nElement() > 0 then
         local indices = entries:select(2, 1):long()
         if indices:min() < 0 or indices:max() > self.weight:size(2) then
            error(string.format('index out of bound. updateOutput: %d not between 1 and %d',
               indices:min() < 0 and indices:min() or indices:max(), self.weight:size(2)), 3)
         end
         local used = indices:gt(0):nonzero()
         if used:nElement() > 0 then
            used = used:view(-1)
            f(row, indices:index(1, used), entries:select(2, 2):index(1, used), used)
         end
      end
   end
end

function SparseLinear:updateOutput(input)
   local list, batch = samples(input)
   self.output:resize(#list, self.weight:size(1)):copy(self.bias:view(1, -1):expand(#list, self.weight:size(1)))
   each(self, list, function(row, indices, values)
      self.output[row]:addmv(1, self.weight:index(2, indices), values)
   end)
   return batch and self.output or self.output:resize(self.weight:size(1))
end

function SparseLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local list = samples(input)
   local rows = gradOutput:contiguous():view(#list, -1)
   self.lastInput = input
   each(self, list, function(row, indices, values)
      local products = torch.ger(rows[row], values):mul(scale)
      self.gradWeight:indexAdd(2, indices, products)
   end)
   self.gradBias:add(scale, rows:sum(1))
   if self.weightDecay ~= 0 then
      self.gradWeight:add(scale * self.weightDecay, self.weight)
   end
end

-- Like the input: indices, and beside each the gradient of its value.
function SparseLinear:updateGradInput(input, gradOutput)
   if not self.doGradInput then
      return self.gradInput
   end
   local list, batch = samples(input)
   local rows = gradOutput:contiguous():view(#list, -1)
   local gradients = {}
   for i, entries in ipairs(list) do
      gradients[i] = entries:clone()
   end
   each(self, list, function(row, indices, _, used)
      local slopes = torch.mv(self.weight:index(2, indices):t(), rows[row])
      local column = gradients[row]:select(2, 2):zero()
      column:indexCopy(1, used, slopes)
   end)
   self.gradInput = batch and gradients or gradients[1]
   return self.gradInput
end

function SparseLinear:updateParameters(learningRate)
   self.lastInput = nil
   parent.updateParameters(self, learningRate)
end

function SparseLinear:zeroGradParameters()
   self.lastInput = nil
   parent.zeroGradParameters(self)
end

function SparseLinear:clearState()
   nn.utils.clear(self, 'lastInput', 'cudaBuffer')
   return parent.clearState(self)
end
