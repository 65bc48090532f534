-- Images scale_factor times as large, with each pixel repeated.
local enlarge = require 'nn.shared.enlarge'

local SpatialUpSamplingNearest, parent = torch.class('nn.SpatialUpSamplingNearest', 'nn.Module')

function SpatialUpSamplingNearest:__init(scale)
   parent.__init(self)
   self.scale_factor = enlarge.factor(scale)
   self.inputSize = torch.LongStorage(4)
   self.outputSize = torch.LongStorage(4)
end

function SpatialUpSamplingNearest:updateOutput(input)
   enlarge.forward('nearest', self.output, input, enlarge.scaled(input, 2, self.scale_factor))
   self.inputSize = input:size()
   self.outputSize = self.output:size()
   return self.output
end

function SpatialUpSamplingNearest:updateGradInput(input, gradOutput)
   return enlarge.backward('nearest', self.gradInput, input, gradOutput,
      enlarge.scaled(input, 2, self.scale_factor))
end
