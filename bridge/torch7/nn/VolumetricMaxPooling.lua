-- The maximum of each window kT x kW x kH of each plane.
local pooling = require 'nn.shared.pooling'

local VolumetricMaxPooling, parent = torch.class('nn.VolumetricMaxPooling', 'nn.Module')

function VolumetricMaxPooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self)
   pooling.volumetric(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.indices = torch.LongTensor()
end

VolumetricMaxPooling.ceil = pooling.ceil
VolumetricMaxPooling.floor = pooling.floor

local output, gradinput = pooling.max('THW')

function VolumetricMaxPooling:updateOutput(input)
   local dimensions = input:dim()
   self.itime = dimensions > 2 and input:size(dimensions - 2) or nil
   self.iheight = dimensions > 1 and input:size(dimensions - 1) or nil
   self.iwidth = dimensions > 0 and input:size(dimensions) or nil
   self.ceil_mode = self.ceil_mode or false -- old files lack it
   return output(self, input)
end

VolumetricMaxPooling.updateGradInput = gradinput

function VolumetricMaxPooling:empty()
   return self:clearState()
end

function VolumetricMaxPooling:__tostring__()
   return pooling.text(self, 'TWH')
end

function VolumetricMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end
