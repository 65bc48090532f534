-- nn.Linear of very sparse inputs: the rows of `weight` belong to keys. The input is {keys, values} for one sample, or
-- for a batch {keys, values, sizes} (one after the other, and how many each has), or lists of keys and of values.
--
-- Gradients are kept only for the keys seen, in self.running. With `normalize` each row begins with four numbers: the
-- largest absolute value seen, its inverse, whether the key was seen, and a bias of the value.
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
   self.running = {}
   self.sizes = torch.LongTensor()
   self.keysOffset = keysOffset or 0
   self.doGradInput = doGradInput or false
   self.weightDecay = 0
   if not weight then
      self:reset()
   end
end

function IndexLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(0.000001)
   if self.normalize > 0 then
      self.weight:narrow(2, 1, self.normalize):zero()
   end
end

-- Keys from 1, values and sizes of a batch; whether it was one.
function IndexLinear:reshapeInput(input)
   if torch.type(input) ~= 'table' or #input < 2 or #input > 3 then
      error('input should be a table of keys and values, or of keys, values and sizes')
   end
   local keys, values, sizes = input[1], input[2], input[3]
   local batch = sizes ~= nil
   if torch.type(keys) == 'table' then
      batch = true
      sizes = self.sizes:resize(#keys)
      for i = 1, #keys do
         sizes[i] = keys[i]:nElement()
      end
      keys, values = torch.cat(keys, 1), torch.cat(values, 1)
   elseif not sizes then
      sizes = self.sizes:resize(1):fill(keys:nElement())
   end
   if keys:nElement() ~= values:nElement() or sizes:sum() ~= keys:nElement() then
      error(string.format('%d keys, %d values and sizes of %d in all do not fit', keys:nElement(), values:nElement(),
         sizes:sum()))
   end
   keys = torch.add(keys:long(), self.keysOffset)
   if keys:nElement() > 0 and (keys:min() < 1 or keys:max() > self.inputSize) then
      error(string.format('keys from 1 to %d expected, got %d to %d', self.inputSize, keys:min(), keys:max()))
   end
   return keys, values, sizes, batch
end

-- Values as shares of the largest seen of their keys, which training updates.
local function normalized(self, keys, values)
   if self.normalize == 0 then
      return values
   end
   local result = values:clone()
   for i = 1, keys:nElement() do
      local row, value = self.weight[keys[i]], values[i]
      local size = math.abs(value)
      if self.train ~= false then
         if size > row[1] then
            row[1], row[2] = size, 1 / size
         end
         row[3] = 1
      end
      result[i] = (size > row[1] and (value > 0 and 1 or -1) or value * row[2]) + row[4]
   end
   return result
end

-- Call f(sample, keys, values, first) for each sample that has keys; `first` is the place of its first.
local function each(keys, values, sizes, f)
   local first = 1
   for sample = 1, sizes:nElement() do
      local count = sizes[sample]
      if count > 0 then
         f(sample, keys:narrow(1, first, count), values:narrow(1, first, count), first)
      end
      first = first + count
   end
end

-- The weights proper of these keys.
local function rows(self, keys)
   return self.weight:index(1, keys):narrow(2, self.normalize + 1, self.outputSize)
end

function IndexLinear:updateOutput(input)
   local keys, values, sizes, batch = self:reshapeInput(input)
   self._values = normalized(self, keys, values)
   local samples = sizes:nElement()
   self.output:resize(samples, self.outputSize):copy(self.bias:view(1, -1):expand(samples, self.outputSize))
   each(keys, self._values, sizes, function(sample, some, x)
      self.output[sample]:addmv(1, rows(self, some):t(), x)
   end)
   return batch and self.output or self.output:resize(self.outputSize)
end

-- gradOutput as a matrix.
local function gradients(self, gradOutput)
   return gradOutput:contiguous():view(-1, self.outputSize)
end

-- {keys without a gradient, the gradient of values}, like the input.
function IndexLinear:updateGradInput(input, gradOutput)
   self.gradInput = {}
   if not self.doGradInput then
      return self.gradInput
   end
   local keys, values, sizes = self:reshapeInput(input)
   local gradient = gradients(self, gradOutput)
   local dvalues = values.new():resizeAs(values):zero()
   each(keys, dvalues, sizes, function(sample, some, part)
      part:mv(rows(self, some), gradient[sample])
      if self.normalize > 0 then
         part:cmul(self.weight:index(1, some):select(2, 2))
      end
   end)
   local list = torch.type(input[1]) == 'table'
   local dkeys = {}
   if list then
      local split = {}
      each(keys, dvalues, sizes, function(sample, _, part)
         split[sample] = part
      end)
      for i, key in ipairs(input[1]) do
         dkeys[i] = key.new():resize(key:size()):zero()
         split[i] = split[i] or values.new()
      end
      dvalues = split
   else
      dkeys = input[1].new():resize(input[1]:size()):zero()
   end
   self.gradInput = {dkeys, dvalues}
   return self.gradInput
end

function IndexLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local keys, values, sizes = self:reshapeInput(input)
   values = self.normalize > 0 and self._values or values
   local gradient = gradients(self, gradOutput)
   self.gradBias:add(scale, gradient:sum(1))
   if keys:nElement() == 0 then
      return
   end
   local dweight = self.weight.new(keys:nElement(), self.weight:size(2)):zero()
   each(keys, values, sizes, function(sample, some, x, first)
      local part = dweight:narrow(1, first, some:nElement())
      part:narrow(2, self.normalize + 1, self.outputSize):addr(scale, x, gradient[sample])
      if self.normalize > 0 then
         part:select(2, 4):addmv(scale, rows(self, some), gradient[sample])
      end
   end)
   table.insert(self.running, {keys = keys:clone(), gradWeight = dweight})
end

function IndexLinear:zeroGradParameters()
   self.running = {}
   self.gradBias:zero()
end

-- Only rows whose keys were seen move, and decay.
function IndexLinear:updateParameters(learningRate)
   self.bias:add(-learningRate, self.gradBias)
   for _, seen in ipairs(self.running) do
      if self.weightDecay ~= 0 then
         local part = seen.gradWeight:narrow(2, self.normalize + 1, self.outputSize)
         part:add(self.weightDecay, rows(self, seen.keys))
      end
      self.weight:indexAdd(1, seen.keys, torch.mul(seen.gradWeight, -learningRate))
   end
end

function IndexLinear:accUpdateGradParameters(input, gradOutput, lr)
   self:zeroGradParameters()
   self:accGradParameters(input, gradOutput, 1)
   self:updateParameters(lr)
   self:zeroGradParameters()
end

IndexLinear.sharedAccUpdateGradParameters = IndexLinear.accUpdateGradParameters

-- The gradient as large as the weight, made of what has been seen.
function IndexLinear:parameters()
   self.gradWeight:resizeAs(self.weight):zero()
   for _, seen in ipairs(self.running) do
      self.gradWeight:indexAdd(1, seen.keys, seen.gradWeight)
   end
   return {self.weight, self.bias}, {self.gradWeight, self.gradBias}
end

function IndexLinear:clearState()
   self.running = {}
   self.gradInput = {}
   nn.utils.clear(self, '_values', 'gradWeight')
   return parent.clearState(self)
end
