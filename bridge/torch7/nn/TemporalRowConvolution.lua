-- A convolution over time of each number of the frames by itself. With featFirst, numbers come before frames.
local convolution = require 'nn.shared.convolution'
local shape = require 'nn.shared.shape'

local TemporalRowConvolution, parent = torch.class('nn.TemporalRowConvolution', 'nn.Module')

function TemporalRowConvolution:__init(inputFrameSize, kW, dW, featFirst)
   parent.__init(self)
   self.inputFrameSize = inputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.padW = 0
   self.featFirst = featFirst and true or false
   self.weight = torch.Tensor(inputFrameSize, 1, kW)
   self.bias = torch.Tensor(inputFrameSize)
   self.gradWeight = torch.Tensor(inputFrameSize, 1, kW):zero()
   self.gradBias = torch.Tensor(inputFrameSize):zero()
   self:reset()
end

TemporalRowConvolution.noBias = convolution.noBias

function TemporalRowConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.inputFrameSize)
end

local function describe(self)
   return {stride = {self.dW}, padding = {self.padW}, dilation = {1}, transposed = false, adjust = {0},
      groups = self.inputFrameSize}
end

-- A view with the batch first, then numbers, then frames.
local function planes(self, t)
   t = t:dim() == 3 and t or shape.single(t)
   return self.featFirst and t or t:transpose(2, 3)
end

-- The input so viewed, and how many windows it has.
local function check(self, input, gradOutput)
   shape.batched(input, 2)
   shape.atleast('kernel size', 'k', 'W', {self.kW}, 1)
   shape.atleast('stride', 'd', 'W', {self.dW}, 1)
   local numbers, time = input:dim(), input:dim() - 1
   if self.featFirst then
      numbers, time = time, numbers
   end
   shape.expect('input', input, numbers, self.inputFrameSize)
   local n = shape.places(input:size(time), self.kW, self.dW, self.padW, 1)
   if n < 1 then
      error(string.format('Given input size: (%d x %d). Calculated output size: (%d x %d). Output size is too small',
         self.inputFrameSize, input:size(time), self.inputFrameSize, n), 0)
   end
   if gradOutput then
      shape.expect('gradOutput', gradOutput, numbers, self.inputFrameSize)
      shape.expect('gradOutput', gradOutput, time, n)
   end
   return planes(self, input), n
end

function TemporalRowConvolution:updateOutput(input)
   convolution.compatible(self, 'W')
   local from, n = check(self, input)
   local sizes = self.featFirst and {self.inputFrameSize, n} or {n, self.inputFrameSize}
   if input:dim() == 3 then
      table.insert(sizes, 1, input:size(1))
   end
   shape.resize(self.output, sizes)
   convolution.forward(planes(self, self.output), from, self.weight, self.bias, describe(self))
   return self.output
end

function TemporalRowConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local from = check(self, input, gradOutput)
   self.gradInput:resizeAs(input)
   convolution.gradinput(planes(self, self.gradInput), from, planes(self, gradOutput), self.weight, describe(self))
   return self.gradInput
end

function TemporalRowConvolution:accGradParameters(input, gradOutput, scale)
   local from = check(self, input, gradOutput)
   local gradWeight, gradBias = convolution.gradparameters(from, planes(self, gradOutput), self.weight, self.bias,
      describe(self))
   self.gradWeight:add(scale or 1, gradWeight)
   if self.bias then
      self.gradBias:add(scale or 1, gradBias)
   end
end

function TemporalRowConvolution:__tostring__()
   local text = string.format('%s(%d, %d', torch.type(self), self.inputFrameSize, self.kW)
   if self.dW ~= 1 then
      text = string.format('%s, %d', text, self.dW)
   end
   if self.padW and self.padW ~= 0 then
      text = string.format('%s, %d', text, self.padW)
   end
   return text .. (self.bias and ')' or ') without bias')
end

convolution.methods(TemporalRowConvolution, parent)
