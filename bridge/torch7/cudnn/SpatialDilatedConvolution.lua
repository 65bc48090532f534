-- nn.SpatialDilatedConvolution, in `groups` (1).
local convolution = require 'nn.shared.convolution'

local SpatialDilatedConvolution, parent = torch.class('cudnn.SpatialDilatedConvolution', 'cudnn.SpatialConvolution')

function SpatialDilatedConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, dilationW, dilationH,
                                          groups)
   parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, groups)
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

function SpatialDilatedConvolution:__tostring__()
   return convolution.text(self, 'WH', convolution.planes(self))
end
