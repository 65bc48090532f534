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

-- The rows of sample, index and value as {sample, matrix of index and value}, in order of appearance; the last sample.
local function grouped(input)
   local groups, known, last = {}, {}, 0
   local numbers = input:select(2, 1)
   for i = 1, input:size(1) do
      local row = numbers[i]
      if not (row >= 1 and row < 2 ^ 53 and row % 1 == 0) then
         error(string.format('samples are numbered from 1 on, got %g', row), 4)
      elseif not known[row] then
         known[row] = {row, {}}
         groups[#groups + 1] = known[row]
      end
      table.insert(known[row][2], i)
      last = math.max(last, row)
   end
   for _, group in ipairs(groups) do
      group[2] = input:index(1, torch.LongTensor(group[2])):narrow(2, 2, 2)
   end
   return groups, last
end

-- The input as {sample, matrix of index and value}; how many samples there are; whether they are a batch.
local function samples(input)
   local list = {}
   if type(input) == 'table' then
      for row, entries in ipairs(input) do
         list[row] = {row, entries}
      end
      return list, #list, true
   elseif input:dim() == 3 then
      for row = 1, input:size(1) do
         list[row] = {row, input[row]}
      end
      return list, #list, true
   elseif input:dim() == 2 and input:size(2) == 3 then
      local groups, last = grouped(input)
      return groups, last, true
   elseif input:dim() == 2 and input:size(2) == 2 then
      return {{1, input}}, 1, false
   end
   error('input must be a matrix of index and value, a list of them, or a matrix of sample, index and value', 3)
end

-- Call f(row, indices, values, which of the entries they are, position) for each sample with entries. Indices of 0 pad
-- samples.
local function each(self, list, f)
   for position, sample in ipairs(list) do
      local row, entries = sample[1], sample[2]
      if entries:nElement() > 0 then
         local indices = entries:select(2, 1):long()
         if indices:min() < 0 or indices:max() > self.weight:size(2) then
            error(string.format('index out of bound. updateOutput: %d not between 1 and %d',
               indices:min() < 0 and indices:min() or indices:max(), self.weight:size(2)), 3)
         end
         local used = indices:gt(0):nonzero()
         if used:nElement() > 0 then
            used = used:view(-1)
            f(row, indices:index(1, used), entries:select(2, 2):index(1, used), used, position)
         end
      end
   end
end

function SparseLinear:updateOutput(input)
   local list, count, batch = samples(input)
   self.output:resize(count, self.weight:size(1)):copy(self.bias:view(1, -1):expand(count, self.weight:size(1)))
   each(self, list, function(row, indices, values)
      self.output[row]:addmv(1, self.weight:index(2, indices), values)
   end)
   return batch and self.output or self.output:resize(self.weight:size(1))
end

function SparseLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local list, count = samples(input)
   local rows = gradOutput:contiguous():view(count, -1)
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
   local list, count, batch = samples(input)
   local rows = gradOutput:contiguous():view(count, -1)
   local gradients = {}
   for i, sample in ipairs(list) do
      gradients[i] = sample[2]:clone()
   end
   each(self, list, function(row, indices, _, used, position)
      local slopes = torch.mv(self.weight:index(2, indices):t(), rows[row])
      local column = gradients[position]:select(2, 2):zero()
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
