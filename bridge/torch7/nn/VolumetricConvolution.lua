-- SpatialConvolution with a third axis, T.
local convolution = require 'nn.shared.convolution'

local VolumetricConvolution, parent = torch.class('nn.VolumetricConvolution', 'nn.Module')

function VolumetricConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self)
   self.nInputPlane = nInputPlane
   self.nOutputPlane = nOutputPlane
   self.kT = kT
   self.kW = kW
   self.kH = kH
   self.dT = dT or 1
   self.dW = dW or 1
   self.dH = dH or 1
   self.padT = padT or 0
   self.padW = padW or self.padT
   self.padH = padH or self.padW
   self.weight = torch.Tensor(nOutputPlane, nInputPlane, kT, kH, kW)
   self.bias = torch.Tensor(nOutputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane, kT, kH, kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

VolumetricConvolution.noBias = convolution.noBias

function VolumetricConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kT * self.kW * self.kH * self.nInputPlane)
end

-- The weight is a matrix in some old files.
local output, gradinput, gradparameters = convolution.kind('THW', false, function(self, weight)
   return weight:dim() == 5 and weight
      or weight:view(self.nOutputPlane, self.nInputPlane, self.kT, self.kH, self.kW)
end)

function VolumetricConvolution:updateOutput(input)
   convolution.compatible(self, 'THW')
   return output(self, input)
end

function VolumetricConvolution:updateGradInput(input, gradOutput)
   if self.gradInput then
      return gradinput(self, input, gradOutput, self.gradInput)
   end
end

function VolumetricConvolution:accGradParameters(input, gradOutput, scale)
   gradparameters(self, input, gradOutput, scale)
end

convolution.methods(VolumetricConvolution, parent, 'TWH')
