-- nn.VolumetricConvolution.
local algorithms = require 'cudnn.algorithms'

local VolumetricConvolution, parent = torch.class('cudnn.VolumetricConvolution', 'nn.VolumetricConvolution')

function VolumetricConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self, nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT or 0, padW or 0, padH or 0)
   self.iSize = torch.LongStorage(5):fill(0)
end

algorithms(VolumetricConvolution)
