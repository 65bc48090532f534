-- nn.Linear of sparse vectors: matrices with a row {index, value} for each number that is not 0. The input is a list of
-- them, a batch; or one; or, as older programs have it, a tensor of batch x rows x 2.
--
-- All forms become one: rows {sample, index, value}, which `formatted_input` keeps. While gradients were accumulated
-- once only since they were zeroed (`sparseUpdate`), updates and zeroing touch the columns of that input alone.
local demand = require 'nn.shared.demand'

local SparseLinear, parent = torch.class('nn.SparseLinear', 'nn.Module')

local NO_LAST_INPUT, ONE_LAST_INPUT, ACC_MULTIPLE_TIMES = 0, 1, 2

function SparseLinear:__init(inputSize, outputSize, doGradInput)
   parent.__init(self)
   self.weightDecay = 0
   self.doGradInput = doGradInput or false
   assert(type(self.doGradInput) == 'boolean')
   self.weight = torch.Tensor(outputSize, inputSize):zero()
   self.bias = torch.Tensor(outputSize):zero()
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self.gradBias = torch.Tensor(outputSize):zero()
   self.sparseUpdate = NO_LAST_INPUT
   self.gradInput = {}
   self.output:resize(outputSize)
   self:reset()
end

function SparseLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(0.000001)
end

-- The input as a list or a tensor of samples; is it a batch, is it one of old programs?
function SparseLinear:reshapeInput(input)
   if torch.type(input) == 'table' then
      return input, true, false
   elseif input:dim() == 2 then
      return {input}, false, false
   end
   return input, true, true
end

-- Samples as rows {sample, index, value}.
local function formatted(rows, samples, count, lengthof)
   local total, from = 0, 1
   for i = 1, count do
      total = total + lengthof(samples[i])
   end
   rows:resize(total, 3)
   for i = 1, count do
      local length = lengthof(samples[i])
      if length > 0 then
         local part = rows:narrow(1, from, length)
         part:narrow(2, 2, 2):copy(samples[i])
         part:select(2, 1):fill(i)
         from = from + length
      end
   end
   return rows
end

local function length(sample)
   return sample:dim() == 0 and 0 or sample:size(1)
end

local function format(self, samples, legacy)
   self.formatted_input = self.formatted_input or self.weight.new()
   if not legacy then
      return formatted(self.formatted_input, samples, #samples, length)
   elseif samples:dim() ~= 3 or samples:size(3) ~= 2 then
      demand.refuse(2, 'input size must be batchsize x nnz x 2')
   end
   return formatted(self.formatted_input, samples, samples:size(1), length)
end

-- Call f(sample, indices, values) with the rows of each sample whose values are not 0.
local function each(self, rows, name, f)
   if rows:nElement() == 0 then
      return
   end
   local used = rows:select(2, 3):ne(0):nonzero()
   if used:nElement() == 0 then
      return
   end
   rows = rows:index(1, used:view(-1))
   local indices = rows:select(2, 2):long()
   for _, index in ipairs{indices:min(), indices:max()} do
      if index < 1 or index > self.weight:size(2) then
         error(string.format('index out of bound. %s: %d not between 1 and %d', name, index, self.weight:size(2)), 0)
      end
   end
   local samples, first = rows:select(2, 1), 1
   for row = 1, rows:size(1) do
      if row == rows:size(1) or samples[row + 1] ~= samples[row] then
         local count = row - first + 1
         f(samples[row], indices:narrow(1, first, count), rows:select(2, 3):narrow(1, first, count))
         first = row + 1
      end
   end
end

function SparseLinear:updateOutput(input)
   if self.sparseUpdate == ONE_LAST_INPUT then
      self.sparseUpdate = ACC_MULTIPLE_TIMES
   end
   local samples, batch, legacy = self:reshapeInput(input)
   self.legacyMode = legacy
   local count = legacy and samples:size(1) or #samples
   if count == 0 then
      self.output:copy(self.bias)
      return self.output
   end
   local rows = format(self, samples, legacy)
   self.output:resize(count, self.weight:size(1)):copy(self.bias:view(1, -1):expand(count, self.weight:size(1)))
   each(self, rows, 'updateOutput', function(sample, indices, values)
      self.output[sample]:addmv(1, self.weight:index(2, indices), values)
   end)
   if not batch then
      self.output = self.output[1]
   end
   return self.output
end

function SparseLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local samples, batch, legacy = self:reshapeInput(input)
   self.legacyMode = legacy
   self.lastInput = self.lastInput or gradOutput.new()
   if self.sparseUpdate == NO_LAST_INPUT then
      local last = legacy and samples or self.formatted_input
      self.lastInput:resizeAs(last):copy(last)
      self.sparseUpdate = ONE_LAST_INPUT
   elseif self.sparseUpdate == ONE_LAST_INPUT then
      self.sparseUpdate = ACC_MULTIPLE_TIMES
   end
   if not batch and gradOutput:dim() == 1 then
      gradOutput:resize(1, gradOutput:size(1)) -- the caller sees it, as in the original
   end
   local rows = legacy and format(self, samples, true) or self.formatted_input
   each(self, rows, 'accGradParameters', function(sample, indices, values)
      self.gradWeight:indexAdd(2, indices, torch.ger(gradOutput[sample], values):mul(scale))
   end)
   self.gradBias:add(scale, gradOutput:sum(1))
   if self.weightDecay and self.weightDecay ~= 0 then
      self.gradWeight:add(self.weightDecay, self.weight)
   end
end

-- The gradient of all numbers of each sample, as rows {index, value}; nothing unless `doGradInput`.
function SparseLinear:updateGradInput(input, gradOutput)
   if self.legacyMode then
      if torch.type(self.gradInput) ~= torch.type(gradOutput) then
         self.gradInput = gradOutput.new()
      end
      self.gradInput:resizeAs(input)
   else
      self.gradInput = {}
   end
   if not self.doGradInput then
      return self.gradInput
   end
   local size = self.weight:size(2)
   local slopes = (gradOutput:dim() == 1 and gradOutput:view(1, -1) or gradOutput) * self.weight
   local count = slopes:size(1)
   if self.legacyMode then
      self.gradInput:resize(count, size, 2)
   end
   for i = 1, count do
      local rows = self.legacyMode and self.gradInput[i] or gradOutput.new(size, 2)
      rows:select(2, 1):range(1, size)
      rows:select(2, 2):copy(slopes[i])
      if not self.legacyMode then
         self.gradInput[i] = rows
      end
   end
   return self.gradInput
end

-- The columns that the last input used, as longs; nil when updates have to go over all.
local function touched(self)
   if self.lastInput and self.sparseUpdate == ONE_LAST_INPUT then
      local rows = self.legacyMode and self.lastInput:contiguous():view(-1, 2) or self.lastInput
      local columns, seen = {}, {}
      if rows:nElement() > 0 then
         local last = rows:size(2)
         for row = 1, rows:size(1) do
            local index = rows[row][last - 1]
            if rows[row][last] ~= 0 and not seen[index] then
               seen[index] = true
               columns[#columns + 1] = index
            end
         end
      end
      return columns
   end
end

function SparseLinear:updateParameters(learningRate)
   local columns = touched(self)
   if not columns then
      return parent.updateParameters(self, learningRate)
   elseif #columns > 0 then
      local indices = torch.LongTensor(columns)
      self.bias:add(-learningRate, self.gradBias)
      self.weight:indexAdd(2, indices, self.gradWeight:index(2, indices):mul(-learningRate))
   end
end

function SparseLinear:zeroGradParameters()
   local columns = touched(self)
   if columns then
      self.gradBias:zero()
      if #columns > 0 then
         self.gradWeight:indexFill(2, torch.LongTensor(columns), 0)
      end
   else
      parent.zeroGradParameters(self)
   end
   self.sparseUpdate = NO_LAST_INPUT
end

function SparseLinear:clearState()
   nn.utils.clear(self, 'lastInput', 'formatted_input', 'cudaBuffer')
   self.sparseUpdate = NO_LAST_INPUT
   return parent.clearState(self)
end
