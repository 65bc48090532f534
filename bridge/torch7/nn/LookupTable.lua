-- Rows of a matrix by their index, counted from 1; the row `paddingValue` gets no gradient.
local arguments = require 'torch.arguments'
local elements = require 'torch.elements'
local object = require 'torch.object'
local longs = require 'nn.longs'

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

function LookupTable:reset(stdv)
   self.weight:normal(0, stdv or 1)
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

-- The indices as one row.
local function indices(self, input)
   if input:dim() ~= 1 and input:dim() ~= 2 then
      error('input must be a vector or matrix', 3)
   end
   local rows = longs.of(input):contiguous():view(-1)
   if rows:min() < 1 or rows:max() > self.weight:size(1) then
      arguments.notedamong(rows, self.weight:size(1), 'index out of range')
      error('index out of range', 3)
   end
   return rows
end

-- Scale the rows that are used, and longer than maxNorm, down to it.
function LookupTable:renorm(input)
   if not self.maxNorm then
      return
   end
   local seen, rows = {}, indices(self, input)
   for i = 1, rows:nElement() do
      if not seen[rows[i]] then
         seen[rows[i]] = true
         local row = self.weight[rows[i]]
         local norm = row:norm(self.normType or 2)
         if norm > self.maxNorm then
            row:mul(self.maxNorm / (norm + 1e-7))
         end
      end
   end
end

function LookupTable:updateOutput(input)
   self:renorm(input)
   self.output:index(self.weight, 1, indices(self, input))
   if input:dim() == 2 then
      self.output = self.output:view(input:size(1), input:size(2), self.weight:size(2))
   end
   return self.output
end

-- Indices have no gradient: zeros.
function LookupTable:updateGradInput(input)
   self.gradInput = torch.isTypeOf(self.gradInput, torch.type(input)) and self.gradInput or input.new()
   self.gradInput:resize(input:size()):zero()
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
   scale = scale or 1
   local rows, counts = indices(self, input), {}
   gradOutput = gradOutput:contiguous():view(rows:nElement(), -1)
   if self.shouldScaleGradByFreq then
      for _, row in ipairs(rows:totable()) do
         counts[row] = (counts[row] or 0) + 1
      end
   end
   if object.dtype(self.gradWeight) >= elements.DEVICE then
      return everywhere(self, rows, counts, gradOutput, scale)
   end
   for i = 1, rows:nElement() do
      local row = rows[i]
      if row ~= self.paddingValue then
         self.gradWeight[row]:add(scale / (counts[row] or 1), gradOutput[i])
      end
   end
end

function LookupTable:clearState()
   nn.utils.clear(self, '_count', '_input', '_sorted', '_indices', '_gradOutput')
   return parent.clearState(self)
end
