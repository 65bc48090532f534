-- SpatialConvolution whose weight is a matrix: a row of nInputPlane kernels for each output plane.
local convolution = require 'nn.shared.convolution'

local SpatialConvolutionMM, parent = torch.class('nn.SpatialConvolutionMM', 'nn.Module')

function SpatialConvolutionMM:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   convolution.planar(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.weight = torch.Tensor(nOutputPlane, nInputPlane * kH * kW)
   self.bias = torch.Tensor(nOutputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane * kH * kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self.finput = torch.Tensor()
   self.fgradInput = torch.Tensor()
   self:reset()
end

SpatialConvolutionMM.noBias = convolution.noBias

function SpatialConvolutionMM:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH * self.nInputPlane)
end

local output, gradinput, gradparameters = convolution.kind('HW', false, function(self, weight)
   return weight:view(self.nOutputPlane, self.nInputPlane, self.kH, self.kW)
end)

function SpatialConvolutionMM:updateOutput(input)
   convolution.compatible(self, 'HW')
   return output(self, input)
end

function SpatialConvolutionMM:updateGradInput(input, gradOutput)
   if self.gradInput then
      return gradinput(self, input, gradOutput, self.gradInput)
   end
end

function SpatialConvolutionMM:accGradParameters(input, gradOutput, scale)
   gradparameters(self, input, gradOutput, scale)
end

function SpatialConvolutionMM:type(type, tensorCache)
   if type then
      self.finput = torch.Tensor()
      self.fgradInput = torch.Tensor()
   end
   return parent.type(self, type, tensorCache)
end

function SpatialConvolutionMM:__tostring__()
   return convolution.text(self, 'WH', convolution.planes(self))
end

function SpatialConvolutionMM:clearState()
   convolution.clearState(self)
   return parent.clearState(self)
end
