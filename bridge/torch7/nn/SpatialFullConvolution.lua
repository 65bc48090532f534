-- The transpose of SpatialConvolution: its output is as large as what would give the input. adjW, adjH choose among the
-- sizes that would.
local convolution = require 'nn.convolution'
local full = require 'nn.fullconvolution'

local SpatialFullConvolution, parent = torch.class('nn.SpatialFullConvolution', 'nn.Module')

function SpatialFullConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW, adjH)
   parent.__init(self)
   self.nInputPlane = nInputPlane
   self.nOutputPlane = nOutputPlane
   self.kW = kW
   self.kH = kH
   self.dW = dW or 1
   self.dH = dH or 1
   self.padW = padW or 0
   self.padH = padH or 0
   self.adjW = adjW or 0
   self.adjH = adjH or 0
   if self.adjW > self.dW - 1 or self.adjH > self.dH - 1 then
      error('adjW and adjH must be smaller than self.dW - 1 and self.dH - 1 respectively')
   end
   self.weight = torch.Tensor(nInputPlane, nOutputPlane, kH, kW)
   self.gradWeight = torch.Tensor(nInputPlane, nOutputPlane, kH, kW):zero()
   self.bias = torch.Tensor(nOutputPlane)
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

function SpatialFullConvolution:reset(stdv)
   convolution.reset(self, stdv, self.nInputPlane * self.kH * self.kW)
end

full(SpatialFullConvolution, parent, 'HW', 'WH')
