-- Rows of a matrix by their index, counted from 1; the row `paddingValue` gets no gradient.
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local object = require 'torch.object'
local longs = require 'nn.shared.longs'

local LookupTable, parent = torch.class('nn.LookupTable', 'nn.Module')

LookupTable.__version = 4

function LookupTable:__init(nIndex, nOutput, paddingValue, maxNorm, normType)
   parent.__init(self)
   self.weight = torch.Tensor(nIndex, nOutput)
   self.gradWeight = torch.Tensor(nIndex, nOutput):zero()
   self.paddingValue = paddingValue or 0
   self.maxNorm = maxNorm or nil
   self.normType = normType or nil
   self:reset()
end

-- What old files lack.
function LookupTable:backCompatibility()
   self._count = self._count or torch.IntTensor()
   self._input = self._input or longs.beside(nil, self.weight)
   self.shouldScaleGradByFreq = self.shouldScaleGradByFreq or false
end

-- Gradients go into the weight only, by accUpdateGradParameters.
function LookupTable:accUpdateOnly()
   self.gradWeight = nil
   return self
end

function LookupTable:setPadding(paddingValue)
   self.paddingValue = paddingValue
   return self
end

function LookupTable:setMaxNorm(maxNorm)
   self.maxNorm = maxNorm
   return self
end

function LookupTable:setNormType(normType)
   self.normType = normType
   return self
end

function LookupTable:scaleGradByFreq()
   self.shouldScaleGradByFreq = true
   return self
end

function LookupTable:reset(stdv)
   self.weight:normal(0, stdv or 1)
end

-- The indices as longs without gaps: the input, or a copy that accGradParameters reads too.
function LookupTable:makeInputContiguous(input)
   self.copiedInput = not input:isContiguous() or torch.type(input) ~= torch.type(self._input)
   if self.copiedInput then
      return self._input:resize(input:size()):copy(input)
   end
   return input
end

-- As one row.
local function flat(input)
   if input:dim() == 2 then
      return input:view(-1)
   elseif input:dim() ~= 1 then
      error('input must be a vector or matrix', 3)
   end
   return input
end

local function inside(self, rows, inputs)
   for i = 1, rows:nElement() do
      if rows[i] < 1 or rows[i] > self.weight:size(1) then
         error(string.format('%s need to be in the range 1 <= input < %d, but got input of value: %d', inputs,
            self.weight:size(1) + 1, rows[i]), 0)
      end
   end
end

-- Scale the rows that are used, and longer than maxNorm, down to it.
function LookupTable:renorm(input)
   if not self.maxNorm then
      return
   end
   local rows = flat(self._input:resize(input:size()):copy(input))
   local kind = self.normType or 2
   if kind <= 0 then
      error('non-positive-norm not supported', 0)
   end
   inside(self, rows, 'input')
   local seen = {}
   for i = 1, rows:nElement() do
      if not seen[rows[i]] then
         seen[rows[i]] = true
         local row = self.weight[rows[i]]
         local norm = row:norm(kind)
         if norm > self.maxNorm then
            row:mul(self.maxNorm / (norm + 1e-7))
         end
      end
   end
end

function LookupTable:updateOutput(input)
   self:backCompatibility()
   self:renorm(input)
   input = self:makeInputContiguous(input)
   local rows = flat(input)
   if rows:min() < 1 or rows:max() > self.weight:size(1) then
      arguments.notedamong(rows, self.weight:size(1), 'index out of range')
      error('index out of range', 0)
   end
   self.output:index(self.weight, 1, rows)
   if input:dim() == 2 then
      self.output = self.output:view(input:size(1), input:size(2), self.weight:size(2))
   end
   return self.output
end

-- Indices have no gradient: zeros.
function LookupTable:updateGradInput(input)
   if torch.type(self.gradInput) ~= torch.type(input) then
      self.gradInput = input.new()
   end
   if not self.gradInput:isSameSizeAs(input) then
      self.gradInput:resizeAs(input):zero()
   end
   return self.gradInput
end

-- The gradient of all rows at once, where each access to one would be a copy from a device.
local function everywhere(self, rows, counts, gradOutput, scale)
   local weights, list = gradOutput.new(rows:nElement()):fill(scale), self.shouldScaleGradByFreq and rows:totable()
   if list then
      for i = 1, #list do
         list[i] = scale / counts[list[i]]
      end
      weights = gradOutput.new(list)
   end
   weights[rows:eq(self.paddingValue or 0)] = 0
   self.gradWeight:indexAdd(1, rows, torch.cmul(gradOutput, weights:view(-1, 1):expandAs(gradOutput)))
end

function LookupTable:accGradParameters(input, gradOutput, scale)
   self:backCompatibility()
   scale = scale or 1
   local rows, counts = flat(self.copiedInput and self._input or input), {}
   gradOutput = gradOutput:contiguous():view(rows:nElement(), -1)
   if self.shouldScaleGradByFreq then
      for _, row in ipairs(rows:totable()) do
         counts[row] = (counts[row] or 0) + 1
      end
   end
   if object.dtype(self.gradWeight) >= elements.DEVICE then
      return everywhere(self, rows, counts, gradOutput, scale)
   end
   inside(self, rows, 'inputs')
   for i = 1, rows:nElement() do
      local row = rows[i]
      if row ~= self.paddingValue then
         self.gradWeight[row]:add(scale / (counts[row] or 1), gradOutput[i])
      end
   end
end

-- Counts and indices keep their types, but on a device.
function LookupTable:type(typename, tensorCache)
   parent.type(self, typename, tensorCache)
   if typename and typename:find('torch%.Cuda.*Tensor') then
      for _, name in ipairs{'_sorted', '_indices', '_count', '_input'} do
         self[name] = longs.beside(nil, self.weight)
      end
   else
      self._count = torch.IntTensor()
      self._input = torch.LongTensor()
   end
   return self
end

function LookupTable:clearState()
   nn.utils.clear(self, '_count', '_input')
   return parent.clearState(self)
end

function LookupTable:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:defaultAccUpdateGradParameters(input, gradOutput, lr)
end
