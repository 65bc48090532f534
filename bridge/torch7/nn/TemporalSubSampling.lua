-- The sum of each number over kW frames, times its weight and plus its bias; for one sequence, not a batch.
local convolution = require 'nn.shared.convolution'
local frames = require 'nn.shared.frames'
local pooling = require 'nn.shared.pooling'
local shape = require 'nn.shared.shape'

local TemporalSubSampling, parent = torch.class('nn.TemporalSubSampling', 'nn.Module')

function TemporalSubSampling:__init(inputFrameSize, kW, dW)
   parent.__init(self)
   self.inputFrameSize = inputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.weight = torch.Tensor(inputFrameSize)
   self.bias = torch.Tensor(inputFrameSize)
   self.gradWeight = torch.Tensor(inputFrameSize):zero()
   self.gradBias = torch.Tensor(inputFrameSize):zero()
   self:reset()
end

function TemporalSubSampling:reset(stdv)
   convolution.reset(self, stdv, self.kW)
end

local sum, spread = pooling.sum(2)

local function row(t, like)
   return t:view(1, t:nElement()):expandAs(like)
end

local function check(self, input, gradOutput)
   if input:dim() ~= 2 then
      error('2D or 3D (batch mode) tensor expected for input, but got: ' .. shape.text(input), 0)
   end
   local n = frames.count(self, input)
   shape.expect('input', input, 2, self.inputFrameSize)
   if gradOutput then
      shape.expect('gradOutput', gradOutput, 1, n)
      shape.expect('gradOutput', gradOutput, 2, self.inputFrameSize)
   end
   return n
end

local function sums(self, output, input, n)
   output:resize(n, self.inputFrameSize)
   sum(frames.image(output), frames.image(input:contiguous()), {self.kW, 1}, {self.dW, 1}, {0, 0})
   return output
end

function TemporalSubSampling:updateOutput(input)
   sums(self, self.output, input, check(self, input))
   self.output:cmul(row(self.weight, self.output)):add(row(self.bias, self.output))
   return self.output
end

function TemporalSubSampling:updateGradInput(input, gradOutput)
   if self.gradInput then
      check(self, input, gradOutput)
      self.gradInput:resizeAs(input)
      local weighted = torch.cmul(gradOutput, row(self.weight, gradOutput))
      spread(frames.image(self.gradInput), frames.image(input:contiguous()), frames.image(weighted), {self.kW, 1},
         {self.dW, 1}, {0, 0})
      return self.gradInput
   end
end

function TemporalSubSampling:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local n = check(self, input, gradOutput)
   self.gradWeight:add(scale, sums(self, input.new(), input, n):cmul(gradOutput):sum(1))
   self.gradBias:add(scale, gradOutput:sum(1))
end
