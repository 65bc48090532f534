-- nn.VolumetricAveragePooling.
local counted = require 'cudnn.counted'

local VolumetricAveragePooling, parent = torch.class('cudnn.VolumetricAveragePooling', 'nn.VolumetricAveragePooling')

function VolumetricAveragePooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.iSize = torch.LongStorage(5):fill(0)
end

counted(VolumetricAveragePooling, parent)
