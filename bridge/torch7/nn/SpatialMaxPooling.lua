-- The maximum of each window kW x kH of each plane.
local pooling = require 'nn.shared.pooling'

local SpatialMaxPooling, parent = torch.class('nn.SpatialMaxPooling', 'nn.Module')

function SpatialMaxPooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.kW = kW
   self.kH = kH
   self.dW = dW or kW
   self.dH = dH or kH
   self.padW = padW or 0
   self.padH = padH or 0
   self.ceil_mode = false
   self.indices = torch.LongTensor()
end

SpatialMaxPooling.ceil = pooling.ceil
SpatialMaxPooling.floor = pooling.floor

local output, gradinput = pooling.max('HW')

function SpatialMaxPooling:updateOutput(input)
   local dimensions = input:dim()
   self.iheight = dimensions > 1 and input:size(dimensions - 1) or nil
   self.iwidth = dimensions > 0 and input:size(dimensions) or nil
   self.ceil_mode = self.ceil_mode or false -- old files lack it, and what follows
   self.padW = self.padW or 0
   self.padH = self.padH or 0
   return output(self, input)
end

SpatialMaxPooling.updateGradInput = gradinput

function SpatialMaxPooling:empty()
   return self:clearState()
end

function SpatialMaxPooling:__tostring__()
   return pooling.text(self, 'WH')
end

function SpatialMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end
