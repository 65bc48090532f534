-- The mean of each window kW x kH of each plane, or with `divide` false its sum.
local pooling = require 'nn.shared.pooling'

local SpatialAveragePooling, parent = torch.class('nn.SpatialAveragePooling', 'nn.Module')

function SpatialAveragePooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.kW = kW
   self.kH = kH
   self.dW = dW or 1
   self.dH = dH or 1
   self.padW = padW or 0
   self.padH = padH or 0
   self.ceil_mode = false
   self.count_include_pad = true
   self.divide = true
end

SpatialAveragePooling.ceil = pooling.ceil
SpatialAveragePooling.floor = pooling.floor

-- Do the zeros of the padding count?
function SpatialAveragePooling:setCountIncludePad()
   self.count_include_pad = true
   return self
end

function SpatialAveragePooling:setCountExcludePad()
   self.count_include_pad = false
   return self
end

-- Old files lack these fields.
local function compatible(self)
   self.ceil_mode = self.ceil_mode or false
   self.padW = self.padW or 0
   self.padH = self.padH or 0
   if self.count_include_pad == nil then
      self.count_include_pad = true
   end
   if self.divide == nil then
      self.divide = true
   end
end

local output, gradinput = pooling.average('HW')

function SpatialAveragePooling:updateOutput(input)
   compatible(self)
   output(self, input)
   if not self.divide then
      self.output:mul(self.kW * self.kH)
   end
   return self.output
end

function SpatialAveragePooling:updateGradInput(input, gradOutput)
   if self.gradInput then
      compatible(self)
      gradinput(self, input, gradOutput)
      if not self.divide then
         self.gradInput:mul(self.kW * self.kH)
      end
      return self.gradInput
   end
end

function SpatialAveragePooling:__tostring__()
   return pooling.text(self, 'WH')
end
