-- SpatialConvolution with kernels and biases of its own for each place of the output, so for images of one size.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'
local convolution = require 'nn.shared.convolution'

local SpatialConvolutionLocal, parent = torch.class('nn.SpatialConvolutionLocal', 'nn.Module')

local unfold = aten.op('im2col.out', 'TIIIIT')
local fold = aten.op('col2im.out', 'TIIIIIT')

function SpatialConvolutionLocal:__init(nInputPlane, nOutputPlane, iW, iH, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.nInputPlane = nInputPlane
   self.nOutputPlane = nOutputPlane
   self.kW = kW
   self.kH = kH
   self.iW = iW
   self.iH = iH
   self.dW = dW or 1
   self.dH = dH or 1
   self.padW = padW or 0
   self.padH = padH or self.padW
   self.oW = shape.places(self.iW, self.kW, self.dW, self.padW, 1)
   self.oH = shape.places(self.iH, self.kH, self.dH, self.padH, 1)
   if self.oW < 1 or self.oH < 1 then
      error(string.format('a kernel of %s x %s does not fit into an image of %s x %s', kW, kH, iW, iH))
   end
   self.weight = torch.Tensor(self.oH, self.oW, nOutputPlane, nInputPlane, kH, kW)
   self.bias = torch.Tensor(nOutputPlane, self.oH, self.oW)
   self.gradWeight = torch.Tensor():resizeAs(self.weight):zero()
   self.gradBias = torch.Tensor():resizeAs(self.bias):zero()
   self:reset()
end

function SpatialConvolutionLocal:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH * self.nInputPlane)
end

local function check(self, input, gradOutput)
   local batch = shape.batched(input, 3)
   for d, size in ipairs{self.nInputPlane, self.iH, self.iW} do
      shape.expect('input', input, batch and d + 1 or d, size)
   end
   for d, size in ipairs(gradOutput and {self.nOutputPlane, self.oH, self.oW} or {}) do
      shape.expect('gradOutput', gradOutput, batch and d + 1 or d, size)
   end
   return batch
end

-- For each place of the output (first dimension) what its kernels see (second) in each image of the batch.
local function windows(self, input, batch)
   self.finput = self.finput or input.new()
   local images = batch and input or shape.single(input)
   local seen, places = self.nInputPlane * self.kH * self.kW, self.oH * self.oW
   self.finput:resize(images:size(1), seen, places)
   unfold(images, {self.kH, self.kW}, {1, 1}, {self.padH, self.padW}, {self.dH, self.dW}, self.finput)
   return self.finput:permute(3, 2, 1)
end

-- A tensor of output planes with the places first: places x planes x batch.
local function byplace(self, t, batch)
   local n = batch and t:size(1) or 1
   return t:contiguous():view(n, self.nOutputPlane, self.oH * self.oW):permute(3, 2, 1)
end

local function kernels(self, weight)
   return weight:view(self.oH * self.oW, self.nOutputPlane, self.nInputPlane * self.kH * self.kW)
end

function SpatialConvolutionLocal:updateOutput(input)
   convolution.compatible(self, 'HW')
   local batch = check(self, input)
   if batch then
      self.output:resize(input:size(1), self.nOutputPlane, self.oH, self.oW)
      self.output:copy(shape.single(self.bias):expandAs(self.output))
   else
      self.output:resize(self.nOutputPlane, self.oH, self.oW):copy(self.bias)
   end
   byplace(self, self.output, batch):baddbmm(kernels(self, self.weight), windows(self, input, batch))
   return self.output
end

function SpatialConvolutionLocal:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local batch = check(self, input, gradOutput)
   self.gradInput:resizeAs(input)
   self.fgradInput = self.fgradInput or input.new()
   self.fgradInput:resize(batch and input:size(1) or 1, self.nInputPlane * self.kH * self.kW, self.oH * self.oW)
   self.fgradInput:permute(3, 2, 1):baddbmm(0, 1, kernels(self, self.weight):transpose(2, 3),
      byplace(self, gradOutput, batch))
   fold(self.fgradInput, {self.iH, self.iW}, {self.kH, self.kW}, {1, 1}, {self.padH, self.padW}, {self.dH, self.dW},
      batch and self.gradInput or shape.single(self.gradInput))
   return self.gradInput
end

function SpatialConvolutionLocal:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local batch = check(self, input, gradOutput)
   kernels(self, self.gradWeight):baddbmm(1, scale, byplace(self, gradOutput, batch),
      windows(self, input, batch):transpose(2, 3))
   self.gradBias:add(scale, batch and gradOutput:sum(1) or gradOutput)
end

function SpatialConvolutionLocal:__tostring__()
   local planes = string.format('%s%dx%d, ', convolution.planes(self), self.iW, self.iH)
   return convolution.text(self, 'WH', planes)
end

convolution.methods(SpatialConvolutionLocal, parent)
