-- nn.VolumetricFullConvolution.
local algorithms = require 'cudnn.algorithms'

local VolumetricFullConvolution, parent = torch.class('cudnn.VolumetricFullConvolution', 'nn.VolumetricFullConvolution')

function VolumetricFullConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH, adjT,
                                          adjW, adjH)
   parent.__init(self, nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH, adjT, adjW, adjH)
   self.iSize = torch.LongStorage(5):fill(0)
end

algorithms(VolumetricFullConvolution)
