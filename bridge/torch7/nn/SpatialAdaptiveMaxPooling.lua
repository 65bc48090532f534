-- Maxima of as many windows as make an output of W x H, whatever the size of the input.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'
local pooling = require 'nn.shared.pooling'

local SpatialAdaptiveMaxPooling, parent = torch.class('nn.SpatialAdaptiveMaxPooling', 'nn.Module')

local forward = aten.op('adaptive_max_pool2d.out', 'TITT', 2)
local backward = aten.op('adaptive_max_pool2d_backward.grad_input', 'TTTT')

function SpatialAdaptiveMaxPooling:__init(W, H)
   parent.__init(self)
   self.W = W
   self.H = H
   self.indices = torch.LongTensor()
end

function SpatialAdaptiveMaxPooling:updateOutput(input)
   local sizes = shape.adapted(input, self.H, self.W)
   forward(input, {self.H, self.W}, shape.resize(self.output, sizes), shape.resize(pooling.indices(self), sizes))
   self.indices:add(1)
   return self.output
end

function SpatialAdaptiveMaxPooling:updateGradInput(input, gradOutput)
   pooling.check(self.indices, gradOutput)
   self.gradInput:resizeAs(input)
   backward(gradOutput, input, pooling.fromzero(pooling.indices(self), input, 2), self.gradInput)
   return self.gradInput
end

function SpatialAdaptiveMaxPooling:empty()
   return self:clearState()
end

function SpatialAdaptiveMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end
