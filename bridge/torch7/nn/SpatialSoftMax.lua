-- SoftMax over the planes, for each pixel.
local kernel = require 'nn.shared.kernel'

local SpatialSoftMax = torch.class('nn.SpatialSoftMax', 'nn.Module')

SpatialSoftMax.updateOutput, SpatialSoftMax.updateGradInput = kernel.softmax('_softmax')
