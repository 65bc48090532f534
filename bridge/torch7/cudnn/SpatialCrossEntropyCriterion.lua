-- Cross entropy at every pixel.
local crossentropy = require 'cudnn.crossentropy'

local SpatialCrossEntropyCriterion, parent = torch.class('cudnn.SpatialCrossEntropyCriterion', 'nn.Criterion')

crossentropy(SpatialCrossEntropyCriterion, parent, 4, cudnn.SpatialLogSoftMax, nn.SpatialClassNLLCriterion)
