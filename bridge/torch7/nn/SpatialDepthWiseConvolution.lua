-- A convolution of each input plane by itself with nOutputPlane kernels: nInputPlane * nOutputPlane planes, those of
-- the first input plane first. The weight is made as a matrix, as the original's, and has four dimensions when it has
-- been used.
local convolution = require 'nn.shared.convolution'
local shape = require 'nn.shared.shape'

local SpatialDepthWiseConvolution, parent = torch.class('nn.SpatialDepthWiseConvolution', 'nn.Module')

function SpatialDepthWiseConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   convolution.planar(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.weight = torch.Tensor(nOutputPlane, nInputPlane * kH * kW)
   self.bias = torch.Tensor(nOutputPlane, nInputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane * kH * kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane, nInputPlane):zero()
   self:reset()
end

SpatialDepthWiseConvolution.noBias = convolution.noBias

function SpatialDepthWiseConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH * self.nInputPlane)
end

local function describe(self)
   return {stride = {self.dH, self.dW}, padding = {self.padH, self.padW}, dilation = {1, 1}, transposed = false,
      adjust = {0, 0}, groups = self.nInputPlane}
end

local function whole(self, weight)
   return weight:dim() == 2 and weight:resize(self.nOutputPlane, self.nInputPlane, self.kH, self.kW) or weight
end

-- Weight and bias in the order of the output's planes.
local function grouped(self)
   whole(self, self.weight)
   local planes = self.nInputPlane * self.nOutputPlane
   return self.weight:transpose(1, 2):contiguous():view(planes, 1, self.kH, self.kW),
      self.bias and self.bias:t():contiguous():view(planes)
end

local function sizes(self, input, batch)
   local first = batch and 2 or 1
   local from, to = {input:size(first)}, {self.nInputPlane * self.nOutputPlane}
   for i, axis in ipairs{'H', 'W'} do
      from[i + 1] = input:size(first + i)
      to[i + 1] = shape.places(from[i + 1], self['k' .. axis], self['d' .. axis], self['pad' .. axis], 1)
   end
   shape.positive(from, to, ' x ')
   shape.expect('input', input, first, self.nInputPlane)
   if batch then
      table.insert(to, 1, input:size(1))
   end
   return to
end

-- The planes of gradOutput may stand in two dimensions, those of the input before those made of one.
local function check(self, input, gradOutput)
   local batch = shape.batched(input, 3)
   if gradOutput:dim() == input:dim() + 1 then
      local to = gradOutput:size():totable()
      local first = batch and 2 or 1
      to[first] = to[first] * table.remove(to, first + 1)
      gradOutput = gradOutput:contiguous():view(torch.LongStorage(to))
   end
   for d, size in ipairs(sizes(self, input, batch)) do
      shape.expect('gradOutput', gradOutput, d, size)
   end
   if batch then
      return input, gradOutput, true
   end
   return shape.single(input), shape.single(gradOutput), false
end

function SpatialDepthWiseConvolution:updateOutput(input)
   convolution.compatible(self, 'HW')
   local batch = shape.batched(input, 3)
   local out = shape.resize(self.output, sizes(self, input, batch))
   if not batch then
      input, out = shape.single(input), shape.single(out)
   end
   local weight, bias = grouped(self)
   convolution.forward(out, input, weight, bias, describe(self))
   return self.output
end

function SpatialDepthWiseConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   self.gradInput:resizeAs(input)
   local batch
   input, gradOutput, batch = check(self, input, gradOutput)
   convolution.gradinput(batch and self.gradInput or shape.single(self.gradInput), input, gradOutput,
      (grouped(self)), describe(self))
   return self.gradInput
end

function SpatialDepthWiseConvolution:accGradParameters(input, gradOutput, scale)
   input, gradOutput = check(self, input, gradOutput)
   local weight, bias = grouped(self)
   local gradWeight, gradBias = convolution.gradparameters(input, gradOutput, weight, bias, describe(self))
   whole(self, self.gradWeight):add(scale or 1,
      gradWeight:view(self.nInputPlane, self.nOutputPlane, self.kH, self.kW):transpose(1, 2))
   if bias then
      self.gradBias:add(scale or 1, gradBias:view(self.nInputPlane, self.nOutputPlane):t())
   end
end

convolution.methods(SpatialDepthWiseConvolution, parent, 'WH')
