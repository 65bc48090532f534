-- Images of nOutputPlane planes from images of nInputPlane: each plane a sum of kernels kW x kH over all planes.
local convolution = require 'nn.shared.convolution'

local SpatialConvolution, parent = torch.class('nn.SpatialConvolution', 'nn.Module')

function SpatialConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   convolution.planar(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.weight = torch.Tensor(nOutputPlane, nInputPlane, kH, kW)
   self.bias = torch.Tensor(nOutputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane, kH, kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

SpatialConvolution.noBias = convolution.noBias

function SpatialConvolution:reset(stdv)
   convolution.reset(self, stdv, self.kW * self.kH * self.nInputPlane)
end

-- Old files keep the weight as a matrix.
local function compatible(self)
   convolution.compatible(self, 'HW')
   if self.weight:dim() == 2 then
      self.weight = self.weight:view(self.nOutputPlane, -1, self.kH, self.kW)
   end
   if self.gradWeight and self.gradWeight:dim() == 2 then
      self.gradWeight = self.gradWeight:view(self.nOutputPlane, -1, self.kH, self.kW)
   end
end

local output, gradinput, gradparameters = convolution.kind('HW', false)

function SpatialConvolution:updateOutput(input)
   compatible(self)
   return output(self, input)
end

function SpatialConvolution:updateGradInput(input, gradOutput)
   if self.gradInput then
      compatible(self)
      return gradinput(self, input, gradOutput, self.gradInput)
   end
end

function SpatialConvolution:accGradParameters(input, gradOutput, scale)
   compatible(self)
   gradparameters(self, input, gradOutput, scale)
end

convolution.methods(SpatialConvolution, parent, 'WH')
