-- nn.TemporalConvolution with zeros in front and behind (padH). Its fields are those of a convolution of images with
-- one plane, whose rows are the frames: kH frames wide, dH further for the next.
local algorithms = require 'cudnn.algorithms'
local convolution = require 'nn.shared.convolution'
local shape = require 'nn.shared.shape'

local TemporalConvolution, parent = torch.class('cudnn.TemporalConvolution', 'nn.TemporalConvolution')

function TemporalConvolution:__init(inputFrameSize, outputFrameSize, kH, dH, padH)
   cudnn.SpatialConvolution.__init(self, 1, outputFrameSize, inputFrameSize, kH, 1, dH, 0, padH)
   self.inputFrameSize = inputFrameSize
   self.outputFrameSize = outputFrameSize
   self.weight = self.weight:view(outputFrameSize, inputFrameSize * kH)
   self.gradWeight = self.gradWeight:view(outputFrameSize, inputFrameSize * kH)
end

function TemporalConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH)
end

local output, gradinput, gradparameters = convolution.kind('HW', false, function(self, weight)
   return weight:view(self.outputFrameSize, 1, self.kH, self.kW)
end)

-- The frames as images of one plane.
local function images(self, input)
   if input:dim() ~= 2 and input:dim() ~= 3 or input:size(input:dim()) ~= self.inputFrameSize then
      error(string.format('cudnn.TemporalConvolution: input must be frames x %d or batch x frames x %d, got %s',
         self.inputFrameSize, self.inputFrameSize, table.concat(input:size():totable(), ' x ')), 0)
   end
   input = input:contiguous()
   return input:view(input:dim() == 3 and input:size(1) or 1, 1, input:size(input:dim() - 1), self.inputFrameSize)
end

-- The convolution makes a plane for each number of a frame; here is batch x planes x frames x 1 as frames, and back.
local function asframes(self, planes, input)
   local t = planes:select(4, 1):transpose(2, 3)
   self.output:resize(t:size()):copy(t)
   if input:dim() == 2 then
      self.output = self.output:select(1, 1)
   end
end

local function asplanes(self, gradOutput)
   local t = gradOutput:dim() == 2 and shape.single(gradOutput) or gradOutput
   self._gradOutput = self._gradOutput or gradOutput.new()
   return self._gradOutput:resize(t:size(1), t:size(3), t:size(2), 1):copy(t:transpose(2, 3))
end

-- Call a convolution's function, which writes into self.output, with memory of its own for that.
local function planes(self, input)
   self.buffer = self.buffer or input.new()
   local kept = self.output
   self.output = self.buffer
   local made = output(self, images(self, input))
   self.output = kept
   return made
end

function TemporalConvolution:updateOutput(input)
   asframes(self, planes(self, input), input)
   return self.output
end

function TemporalConvolution:updateGradInput(input, gradOutput)
   if self.gradInput then
      local view = images(self, input)
      gradinput(self, view, asplanes(self, gradOutput), self.gradInput)
      self.gradInput:resizeAs(input)
      return self.gradInput
   end
end

function TemporalConvolution:accGradParameters(input, gradOutput, scale)
   local kept = self.gradWeight
   self.gradWeight = kept:view(self.outputFrameSize, 1, self.kH, self.kW)
   gradparameters(self, images(self, input), asplanes(self, gradOutput), scale)
   self.gradWeight = kept
end

function TemporalConvolution:clearState()
   nn.utils.clear(self, '_gradOutput', 'buffer')
   return parent.clearState(self)
end

algorithms(TemporalConvolution)
