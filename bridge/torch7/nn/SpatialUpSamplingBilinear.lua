-- Images scale_factor times as large, or of {oheight = , owidth = }, linear between pixels; the corners stay.
local enlarge = require 'nn.shared.enlarge'

local SpatialUpSamplingBilinear, parent = torch.class('nn.SpatialUpSamplingBilinear', 'nn.Module')

function SpatialUpSamplingBilinear:__init(params)
   parent.__init(self)
   if type(params) == 'table' then
      self.owidth, self.oheight = params.owidth, params.oheight
      if not self.owidth or not self.oheight then
         error('owidth and oheight must both be given')
      end
   else
      self.scale_factor = enlarge.factor(params)
   end
   self.inputSize = torch.LongStorage(4)
   self.outputSize = torch.LongStorage(4)
end

local function sizes(self, input)
   if self.scale_factor then
      return enlarge.scaled(input, 2, self.scale_factor)
   end
   return {self.oheight, self.owidth}
end

function SpatialUpSamplingBilinear:updateOutput(input)
   enlarge.forward('linear', self.output, input, sizes(self, input))
   self.inputSize = input:size()
   self.outputSize = self.output:size()
   return self.output
end

function SpatialUpSamplingBilinear:updateGradInput(input, gradOutput)
   return enlarge.backward('linear', self.gradInput, input, gradOutput, sizes(self, input))
end

function SpatialUpSamplingBilinear:__tostring__()
   if self.scale_factor then
      return string.format('%s(%d)', torch.type(self), self.scale_factor)
   end
   return string.format('%s(%d, %d)', torch.type(self), self.oheight, self.owidth)
end
