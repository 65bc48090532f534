-- The distances from the input to each column of a learned matrix.
local columns = require 'nn.shared.columns'

local Euclidean, parent = torch.class('nn.Euclidean', 'nn.Module')

function Euclidean:__init(inputSize, outputSize)
   parent.__init(self)
   self.weight = torch.Tensor(inputSize, outputSize)
   self.gradWeight = torch.Tensor(inputSize, outputSize):zero()
   self.gradInput:resize(inputSize)
   self.output:resize(outputSize)
   self.fastBackward = true
   self:reset()
end

function Euclidean:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   if nn.oldSeed then
      for i = 1, self.weight:size(2) do
         self.weight:select(2, i):apply(function() return torch.uniform(-stdv, stdv) end)
      end
   else
      self.weight:uniform(-stdv, stdv)
   end
end

function Euclidean:updateOutput(input)
   return columns.lengths(self.output, columns.differences(self.weight, input), input)
end

-- The gradient of each sample's distances with respect to the differences.
local function gradients(self, input, gradOutput)
   local differences = columns.differences(self.weight, input)
   return differences:cmul(columns.slopes(self.output, gradOutput, differences:size()))
end

function Euclidean:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.gradInput:sum(gradients(self, input, gradOutput), 3)
      return self.gradInput:resizeAs(input)
   end
end

function Euclidean:accGradParameters(input, gradOutput, scale)
   self.gradWeight:add(-(scale or 1), gradients(self, input, gradOutput):sum(1))
end

function Euclidean:type(typename, tensorCache)
   if typename then
      self:clearState() -- the buffers of old files are of no use
   end
   return parent.type(self, typename, tensorCache)
end

function Euclidean:clearState()
   nn.utils.clear(self, '_input', '_output', '_gradOutput', '_weight', '_div', '_sum', '_repeat', '_repeat2',
      '_expand', '_expand2', '_expand3', '_view')
   return parent.clearState(self)
end
