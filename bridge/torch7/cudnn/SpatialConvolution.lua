-- nn.SpatialConvolution, in `groups` (1).
local algorithms = require 'cudnn.algorithms'
local convolution = require 'nn.shared.convolution'
local divide = require 'cudnn.groups'

local SpatialConvolution = torch.class('cudnn.SpatialConvolution', 'nn.SpatialConvolution')

function SpatialConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, groups)
   nn.Module.__init(self)
   convolution.planar(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW or 0, padH or 0)
   groups = divide(self, nInputPlane, nOutputPlane, groups)
   self.weight = torch.Tensor(nOutputPlane, nInputPlane / groups, kH, kW)
   self.bias = torch.Tensor(nOutputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane / groups, kH, kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
   self.iSize = torch.LongStorage(4):fill(0)
end

algorithms(SpatialConvolution)
