-- The mean of each window kT x kW x kH of each plane.
local pooling = require 'nn.shared.pooling'

local VolumetricAveragePooling, parent = torch.class('nn.VolumetricAveragePooling', 'nn.Module')

function VolumetricAveragePooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self)
   pooling.volumetric(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.count_include_pad = true
end

VolumetricAveragePooling.ceil = pooling.ceil
VolumetricAveragePooling.floor = pooling.floor

-- Do the zeros of the padding count?
function VolumetricAveragePooling:setCountIncludePad()
   self.count_include_pad = true
   return self
end

function VolumetricAveragePooling:setCountExcludePad()
   self.count_include_pad = false
   return self
end

-- Old files lack these fields.
local function compatible(self)
   self.ceil_mode = self.ceil_mode or false
   if self.count_include_pad == nil then
      self.count_include_pad = true
   end
end

local output, gradinput = pooling.average('THW')

function VolumetricAveragePooling:updateOutput(input)
   compatible(self)
   return output(self, input)
end

function VolumetricAveragePooling:updateGradInput(input, gradOutput)
   if self.gradInput then
      compatible(self)
      return gradinput(self, input, gradOutput)
   end
end

function VolumetricAveragePooling:empty()
   return self:clearState()
end

function VolumetricAveragePooling:__tostring__()
   return pooling.text(self, 'TWH')
end
