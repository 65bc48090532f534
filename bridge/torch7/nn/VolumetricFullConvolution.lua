-- SpatialFullConvolution with a third axis, T.
local convolution = require 'nn.convolution'
local full = require 'nn.fullconvolution'

local VolumetricFullConvolution, parent = torch.class('nn.VolumetricFullConvolution', 'nn.Module')

function VolumetricFullConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH,
      adjT, adjW, adjH)
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
   self.padW = padW or 0
   self.padH = padH or 0
   self.adjT = adjT or 0
   self.adjW = adjW or 0
   self.adjH = adjH or 0
   if self.adjT > self.dT - 1 or self.adjW > self.dW - 1 or self.adjH > self.dH - 1 then
      error('adjT, adjW and adjH must be smaller than self.dT - 1, self.dW - 1 and self.dH - 1 respectively')
   end
   self.weight = torch.Tensor(nInputPlane, nOutputPlane, kT, kH, kW)
   self.gradWeight = torch.Tensor(nInputPlane, nOutputPlane, kT, kH, kW):zero()
   self.bias = torch.Tensor(nOutputPlane)
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

function VolumetricFullConvolution:reset(stdv)
   convolution.reset(self, stdv, self.nInputPlane * self.kT * self.kH * self.kW)
end

full(VolumetricFullConvolution, parent, 'THW', 'TWH')
