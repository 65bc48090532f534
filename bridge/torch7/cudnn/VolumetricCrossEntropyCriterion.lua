-- Cross entropy at every place of a volume.
local crossentropy = require 'cudnn.crossentropy'

local VolumetricCrossEntropyCriterion, parent = torch.class('cudnn.VolumetricCrossEntropyCriterion', 'nn.Criterion')

-- The likelihood of pixels, for pixels that are the places of a volume.
local Flat, criterion = torch.class('cudnn._VolumetricNLLCriterion', 'nn.SpatialClassNLLCriterion')

local function flat(input, target)
   local n, depth, width = input:size(1), input:size(3) * input:size(4), input:size(5)
   return input:view(n, input:size(2), depth, width), target:contiguous():view(n, depth, width)
end

function Flat:updateOutput(input, target)
   return criterion.updateOutput(self, flat(input, target))
end

function Flat:updateGradInput(input, target)
   criterion.updateGradInput(self, flat(input, target))
   return self.gradInput:resizeAs(input)
end

crossentropy(VolumetricCrossEntropyCriterion, parent, 5, cudnn.VolumetricLogSoftMax, cudnn._VolumetricNLLCriterion)
