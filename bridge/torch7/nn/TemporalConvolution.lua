-- Sequences of frames of outputFrameSize numbers: each from kW frames of inputFrameSize, dW further for the next.
local convolution = require 'nn.shared.convolution'
local frames = require 'nn.shared.frames'
local shape = require 'nn.shared.shape'

local TemporalConvolution, parent = torch.class('nn.TemporalConvolution', 'nn.Module')

function TemporalConvolution:__init(inputFrameSize, outputFrameSize, kW, dW)
   parent.__init(self)
   self.inputFrameSize = inputFrameSize
   self.outputFrameSize = outputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.weight = torch.Tensor(outputFrameSize, inputFrameSize * kW)
   self.bias = torch.Tensor(outputFrameSize)
   self.gradWeight = torch.Tensor(outputFrameSize, inputFrameSize * kW):zero()
   self.gradBias = torch.Tensor(outputFrameSize):zero()
   self:reset()
end

function TemporalConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.inputFrameSize)
end

-- The columns of a weight that belong to a window's frame k (from 0).
local function columns(self, weight, k)
   return weight:narrow(2, k * self.inputFrameSize + 1, self.inputFrameSize)
end

-- A matrix as a batch, as large as that of `t`.
local function repeated(matrix, t)
   return shape.single(matrix):expand(t:size(1), matrix:size(1), matrix:size(2))
end

local function check(self, input, gradOutput)
   local n, batch = frames.count(self, input)
   shape.expect('input', input, input:dim(), self.inputFrameSize)
   if gradOutput then
      shape.expect('gradOutput', gradOutput, input:dim() - 1, n)
      shape.expect('gradOutput', gradOutput, input:dim(), self.outputFrameSize)
      gradOutput = batch and gradOutput or shape.single(gradOutput)
   end
   return n, batch and input or shape.single(input), gradOutput
end

function TemporalConvolution:updateOutput(input)
   local n, from = check(self, input)
   if from == input then
      self.output:resize(input:size(1), n, self.outputFrameSize)
   else
      self.output:resize(n, self.outputFrameSize)
   end
   local to = from == input and self.output or shape.single(self.output)
   to:copy(self.bias:view(1, 1, self.outputFrameSize):expandAs(to))
   for k = 0, self.kW - 1 do
      to:baddbmm(frames.slice(self, from, k, n), repeated(columns(self, self.weight, k):t(), to))
   end
   return self.output
end

function TemporalConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local n, from, given = check(self, input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   local to = from == input and self.gradInput or shape.single(self.gradInput)
   for k = 0, self.kW - 1 do
      frames.slice(self, to, k, n):baddbmm(given, repeated(columns(self, self.weight, k), given))
   end
   return self.gradInput
end

function TemporalConvolution:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local n, from, given = check(self, input, gradOutput)
   for k = 0, self.kW - 1 do
      columns(self, self.gradWeight, k):addbmm(1, scale, given:transpose(2, 3), frames.slice(self, from, k, n))
   end
   self.gradBias:add(scale, given:sum(1):sum(2))
end

function TemporalConvolution:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:defaultAccUpdateGradParameters(input, gradOutput, lr)
end
