-- The sum of each window kW x kH, times a weight and plus a bias of its plane.
local shape = require 'nn.shared.shape'
local plan = require 'nn.shared.plan'
local pooling = require 'nn.shared.pooling'
local convolution = require 'nn.shared.convolution'

local SpatialSubSampling, parent = torch.class('nn.SpatialSubSampling', 'nn.Module')

function SpatialSubSampling:__init(nInputPlane, kW, kH, dW, dH)
   parent.__init(self)
   self.nInputPlane = nInputPlane
   self.kW = kW
   self.kH = kH
   self.dW = dW or 1
   self.dH = dH or 1
   self.weight = torch.Tensor(nInputPlane)
   self.bias = torch.Tensor(nInputPlane)
   self.gradWeight = torch.Tensor(nInputPlane):zero()
   self.gradBias = torch.Tensor(nInputPlane):zero()
   self:reset()
end

function SpatialSubSampling:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH)
end

local sum, spread = pooling.sum(2)
local windows = pooling.windows('HW')

-- One number for each plane, as large as `like`.
local function planes(t, like)
   local size = like:size():fill(1)
   size[like:dim() - 2] = t:nElement()
   return t:view(size):expandAs(like)
end

local function check(self, input, gradOutput)
   local w = windows(self, input)
   shape.expect('input', input, input:dim() - 2, self.nInputPlane)
   if gradOutput then
      plan.expect(w, gradOutput)
   end
   return w, w.to
end

function SpatialSubSampling:updateOutput(input)
   local w, to = check(self, input)
   sum(shape.resize(self.output, to), input, w.kernel, w.stride, w.padding)
   self.output:cmul(planes(self.weight, self.output)):add(planes(self.bias, self.output))
   return self.output
end

function SpatialSubSampling:updateGradInput(input, gradOutput)
   if self.gradInput then
      local w = check(self, input, gradOutput)
      local weighted = torch.cmul(gradOutput, planes(self.weight, gradOutput))
      spread(self.gradInput:resizeAs(input), input, weighted, w.kernel, w.stride, w.padding)
      return self.gradInput
   end
end

function SpatialSubSampling:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local w, to = check(self, input, gradOutput)
   local sums = shape.resize(input.new(), to)
   sum(sums, input, w.kernel, w.stride, w.padding)
   local function perplane(t)
      t = t:contiguous():view(-1, self.nInputPlane, to[#to - 1] * to[#to])
      return t:sum(3):sum(1)
   end
   self.gradWeight:add(scale, perplane(sums:cmul(gradOutput)))
   self.gradBias:add(scale, perplane(gradOutput))
end
