-- LogSoftMax over the planes, for each pixel.
local kernel = require 'nn.shared.kernel'

local SpatialLogSoftMax = torch.class('nn.SpatialLogSoftMax', 'nn.Module')

SpatialLogSoftMax.updateOutput, SpatialLogSoftMax.updateGradInput = kernel.softmax('_log_softmax')
