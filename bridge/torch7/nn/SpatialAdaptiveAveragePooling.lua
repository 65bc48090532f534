-- Means of as many windows as make an output of W x H, whatever the size of the input.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'

local SpatialAdaptiveAveragePooling, parent = torch.class('nn.SpatialAdaptiveAveragePooling', 'nn.Module')

local forward = aten.op('adaptive_avg_pool2d.out', 'TIT')
local backward = aten.op('_adaptive_avg_pool2d_backward.out', 'TTT')

function SpatialAdaptiveAveragePooling:__init(W, H)
   parent.__init(self)
   self.W = W
   self.H = H
end

function SpatialAdaptiveAveragePooling:updateOutput(input)
   shape.resize(self.output, shape.adapted(input, self.H, self.W))
   forward(input, {self.H, self.W}, self.output)
   return self.output
end

function SpatialAdaptiveAveragePooling:updateGradInput(input, gradOutput)
   for d, size in ipairs(shape.adapted(input, self.H, self.W)) do
      shape.expect('gradOutput', gradOutput, d, size)
   end
   self.gradInput:resizeAs(input)
   backward(gradOutput, input, self.gradInput)
   return self.gradInput
end
