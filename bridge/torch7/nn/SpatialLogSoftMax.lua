-- LogSoftMax over the planes, for each pixel.
local kernel = require 'nn.kernel'

local SpatialLogSoftMax = torch.class('nn.SpatialLogSoftMax', 'nn.Module')

SpatialLogSoftMax.updateOutput, SpatialLogSoftMax.updateGradInput = kernel.softmax('_log_softmax')
