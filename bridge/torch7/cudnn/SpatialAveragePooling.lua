-- nn.SpatialAveragePooling, whose windows lie side by side unless told otherwise.
local counted = require 'cudnn.counted'

local SpatialAveragePooling, parent = torch.class('cudnn.SpatialAveragePooling', 'nn.SpatialAveragePooling')

function SpatialAveragePooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self, kW, kH, dW or kW, dH or kH, padW, padH)
   self.iSize = torch.LongStorage(4):fill(0)
end

counted(SpatialAveragePooling, parent)
