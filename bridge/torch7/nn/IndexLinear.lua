-- nn.Linear of very sparse inputs: the rows of `weight` belong to keys. The input is {keys, values} for one sample; for
-- a batch {keys, values, sizes}, one after the other and how many each has, or {list of keys, list of values}.
--
-- Gradients are kept for the keys seen alone, in `running`, one entry for each accGradParameters. With `normalize` each
-- row begins with four numbers: the largest absolute value seen, its inverse, a factor of updates, and a bias of the
-- value; the gradient of a key then has two rows, that of the biased value before that of the weights.
local longs = require 'nn.shared.longs'

local IndexLinear, parent = torch.class('nn.IndexLinear', 'nn.Module')

function IndexLinear:__init(inputSize, outputSize, doGradInput, keysOffset, weight, bias, normalize)
   parent.__init(self)
   self.normalize = normalize and 4 or 0
   self.weight = weight or torch.Tensor(inputSize, outputSize + self.normalize):zero()
   self.bias = bias or torch.Tensor(outputSize):zero()
   self.inputSize = self.weight:size(1)
   self.outputSize = self.weight:size(2) - self.normalize
   self.gradWeight = torch.Tensor()
   self.gradBias = torch.Tensor(self.outputSize):zero()
   self.gradWeightBuffer = torch.Tensor()
   self.valuesBuffer = torch.Tensor()
   self.normalizedValues = torch.Tensor()
   self.running = {cumSumSizes = {}, keys = {}, gradWeight = {}, counter = 1}
   self.sizesCache = {}
   self.cumSumSizesCache = {}
   self.weightDecay = 0
   self.doGradInput = doGradInput or false
   self.offset = keysOffset and keysOffset - 1 or -1 -- from a key to its row counted from 0
end

function IndexLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(0.000001)
   if self.normalize > 0 then
      self.weight:narrow(2, 1, self.normalize):zero()
   end
end

-- Keys and values: tensors and the sizes of the samples, or lists of tensors.
function IndexLinear:reshapeInput(input)
   assert(torch.type(input) == 'table')
   assert(#input == 2 or #input == 3)
   local keys, values, sizes = input[1], input[2], input[3]
   self.isFlat = sizes ~= nil
   self.noBatch = false
   if self.isFlat then
      assert(keys:nElement() == values:nElement(), 'Keys and values should be of same size')
      assert(keys:dim() == 1, 'Keys and values should be 1D')
      return keys, values, torch.isTensor(sizes) and sizes or keys.new{sizes}
   elseif torch.isTensor(keys) and torch.isTensor(values) then
      self.noBatch = true
      keys, values = {keys}, {values}
   elseif torch.type(keys) ~= 'table' or torch.type(values) ~= 'table' then
      error('Wrong input format.')
   end
   for i = 1, #keys do
      assert(values[i]:dim() == 1 and keys[i]:dim() == 1, 'keys and values should be 1D')
   end
   return keys, values
end

function IndexLinear:longTensor(...)
   local tensor = longs.beside(nil, self.weight)
   return select('#', ...) > 0 and tensor:resize(...) or tensor
end

-- Take the input into self.keys, self.values and self.sizes.
function IndexLinear:flattenInputs(input)
   local keys, values, sizes = self:reshapeInput(input)
   local running = self.running
   self.keys = running.keys[running.counter] or self:longTensor()
   running.keys[running.counter] = self.keys
   self.values = self.values or self.weight.new()
   if self.isFlat then
      self.keys:resize(keys:size()):copy(keys)
      self.values:resize(values:size()):copy(values)
      self.sizes = sizes
      self.cumSumSizes = self.cumSumSizes or sizes.new()
   else
      self.lkeys, self.lvalues = keys, values
      self.sizesCache[1] = self.sizesCache[1] or torch.LongTensor()
      self.cumSumSizesCache[1] = self.cumSumSizesCache[1] or torch.LongTensor()
      self.sizes, self.cumSumSizes = self.sizesCache[1]:resize(#keys), self.cumSumSizesCache[1]
      for i = 1, #keys do
         self.sizes[i] = keys[i]:size(1)
      end
      self.keys:cat(keys, 1)
      self.values:cat(values, 1)
   end
   self.cumSumSizes:cumsum(self.sizes)
   running.cumSumSizes[running.counter] = self.cumSumSizes
   if self.keys:nElement() ~= self.values:nElement() then
      require('nn.shared.demand').refuse(1, 'Keys and values should have the same number of elements')
   end
end

-- The rows, from 1, that belong to keys.
local function rowsof(self, keys)
   local rows = torch.add(keys, self.offset + 1)
   if rows:min() < 1 or rows:max() > self.inputSize then
      error(string.format('keys from 1 to %d expected, got %d to %d', self.inputSize, rows:min(), rows:max()), 0)
   end
   return rows
end

-- The weights proper of rows.
local function proper(self, rows)
   return self.weight:index(1, rows):narrow(2, self.normalize + 1, self.outputSize)
end

-- Call f(sample, rows, values, first) for each sample that has keys; `first` is the place of its first.
local function each(self, values, f)
   local rows, first = rowsof(self, self.keys), 1
   for sample = 1, self.sizes:nElement() do
      local count = self.sizes[sample]
      if count > 0 then
         f(sample, rows:narrow(1, first, count), values:narrow(1, first, count), first)
      end
      first = first + count
   end
end

-- Values as shares of the largest seen of their keys, which training updates.
local function normalized(self)
   if self.normalize == 0 then
      return self.values
   end
   local rows = rowsof(self, self.keys)
   self.normalizedValues:resizeAs(self.values)
   for i = 1, rows:nElement() do
      local row, value = self.weight[rows[i]], self.values[i]
      local size = math.abs(value)
      if self.train then
         if size > row[1] then
            row[1], row[2] = size, 1 / size
         end
         row[3] = 1
      end
      self.normalizedValues[i] = (size > row[1] and (value > 0 and 1 or -1) or value * row[2]) + row[4]
   end
   return self.normalizedValues
end

function IndexLinear:updateOutput(input)
   self:flattenInputs(input)
   local samples = self.sizes:nElement()
   self.output:resize(samples, self.outputSize):copy(self.bias:view(1, -1):expand(samples, self.outputSize))
   each(self, normalized(self), function(sample, rows, x)
      self.output[sample]:addmv(1, proper(self, rows):t(), x)
   end)
   if self.noBatch then
      self.output:resize(self.outputSize)
   end
   return self.output
end

-- The gradient of a sample's output; gradOutput may be of one sample without a batch.
local function gradients(self, gradOutput)
   return gradOutput:contiguous():view(-1, self.outputSize)
end

-- What updateOutput made of the values.
local function seen(self)
   return self.normalize > 0 and self.normalizedValues or self.values
end

-- Move a row against the gradients of its value's bias and of its weights. `decay`: the part of the weights that goes;
-- where there is one output and normalization, the original lets them grow.
local function move(self, row, gradBias, gradWeight, rate, decay)
   local weights = row:narrow(1, self.normalize + 1, self.outputSize)
   if self.normalize == 0 then
      return weights:mul(1 - decay):add(-rate, gradWeight)
   end
   local factor = row[3]
   row[4] = row[4] - weights:dot(gradBias) * rate * factor
   decay = decay * factor * (self.outputSize == 1 and -1 or 1)
   weights:mul(1 - decay):add(-rate * factor, gradWeight)
end

function IndexLinear:accUpdateGradParameters(_, gradOutput, lr)
   local gradient, rate = gradients(self, gradOutput), lr or 1
   self.bias:add(-rate, gradient:sum(1))
   each(self, seen(self), function(sample, rows, x)
      for i = 1, rows:nElement() do
         move(self, self.weight[rows[i]], gradient[sample], torch.mul(gradient[sample], x[i]), rate,
            self.weightDecay or 0)
      end
   end)
   if self.normalize > 0 and self.outputSize == 1 then
      self.weight:select(2, 3):indexFill(1, rowsof(self, self.keys), 0)
   end
end

function IndexLinear:accGradParameters(_, gradOutput, scale)
   scale = scale or 1
   local running, gradient, size = self.running, gradients(self, gradOutput), self.outputSize
   local parts = self.normalize > 0 and 2 or 1
   local dense = running.gradWeight[running.counter] or self.values.new()
   running.gradWeight[running.counter] = dense:resize(self.keys:nElement(), parts * size):zero()
   self.gradBias:add(scale, gradient:sum(1))
   each(self, seen(self), function(sample, rows, x, first)
      local part = dense:narrow(1, first, rows:nElement())
      part:narrow(2, (parts - 1) * size + 1, size):addr(scale, x, gradient[sample])
      if parts == 2 then
         part:narrow(2, 1, size):copy(gradient:narrow(1, sample, 1):expand(rows:nElement(), size)):mul(scale)
      end
   end)
   running.counter = running.counter + 1
end

-- {all keys, the gradients of their values}, for each sample; nothing unless `doGradInput`.
function IndexLinear:updateGradInput(_, gradOutput)
   self.gradInput = {}
   if not self.doGradInput then
      return self.gradInput
   elseif self.normalize > 0 then
      error('updateGradInput is not implemented in max-normalize mode')
   end
   local values = gradients(self, gradOutput) * self.weight:t()
   local keys = self.keys.new(self.inputSize):range(1, self.inputSize)
   if self.isFlat then
      self.gradInput = {torch.repeatTensor(keys, values:size(1), 1), values}
      return self.gradInput
   end
   local lists = {{}, {}}
   for i = 1, values:size(1) do
      lists[1][i], lists[2][i] = keys:clone(), values[i]:clone()
   end
   self.gradInput = self.noBatch and {lists[1][1], lists[2][1]} or lists
   return self.gradInput
end

-- Call f(rows, gradients) with each that was accumulated.
local function accumulated(self, f)
   for i = 1, self.running.counter - 1 do
      if self.running.keys[i]:nElement() > 0 then
         f(rowsof(self, self.running.keys[i]), self.running.gradWeight[i])
      end
   end
end

-- Rows whose keys were seen move, and decay, once for each time.
function IndexLinear:updateParameters(learningRate)
   if self.running.counter == 1 then
      return
   end
   local rate = learningRate or error('You must specify a learning rate')
   self.bias:add(-rate, self.gradBias)
   local size = self.outputSize
   accumulated(self, function(rows, gradient)
      self.gradWeight, self.updateKeys = gradient, rows
      if self.normalize == 0 and (self.weightDecay or 0) == 0 then
         self.weight:indexAdd(1, rows, torch.mul(gradient, -rate))
         return
      end
      for i = 1, rows:nElement() do
         local own = gradient[i]
         move(self, self.weight[rows[i]], own:narrow(1, 1, size), own:narrow(1, own:size(1) - size + 1, size), rate,
            self.weightDecay or 0)
      end
   end)
end

function IndexLinear:zeroGradParameters()
   self.gradBias:zero()
   self.running.counter = 1
end

-- The gradient as large as the weight, made of what was accumulated.
function IndexLinear:parameters()
   self._gradWeight = (self._gradWeight or self.weight.new()):resizeAs(self.weight):zero()
   local size = self.outputSize
   accumulated(self, function(rows, gradient)
      local whole = self.weight.new(rows:nElement(), self.weight:size(2)):zero()
      whole:narrow(2, self.normalize + 1, size):copy(gradient:narrow(2, gradient:size(2) - size + 1, size))
      if self.normalize > 0 then
         whole:select(2, 4):sum(torch.cmul(proper(self, rows), gradient:narrow(2, 1, size)), 2)
      end
      self._gradWeight:indexAdd(1, rows, whole)
   end)
   return {self.weight, self.bias}, {self._gradWeight, self.gradBias}
end

function IndexLinear:clearState()
   self.running.keys, self.running.gradWeight, self.running.counter = {}, {}, 1
   self.keys, self.updateKeys, self.values, self.sizes = nil, nil, nil, nil
   self.lkeys, self.lvalues, self.gradInput = {}, {}, {}
   nn.utils.clear(self, 'gradWeightBuffer', 'valuesBuffer', 'gradWeight', '_gradWeight')
   return parent.clearState(self)
end
